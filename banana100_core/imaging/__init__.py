"""Pictures: the one decode for viewer, scorer and export, halved copies, thumbnails, differences."""
