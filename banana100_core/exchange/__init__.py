"""What comes in and goes out: folders of pictures, Pico-Banana, contact sheets."""
