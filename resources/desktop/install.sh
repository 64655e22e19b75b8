#!/bin/sh
# Put the program into the desktop's menu and let it open .b100 files, for this user: sh install.sh
# `sh install.sh --remove` takes it out again. Nothing is copied but the entry, the type and the icons.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
share=${XDG_DATA_HOME:-$HOME/.local/share}

refresh() {
    if command -v update-mime-database >/dev/null 2>&1; then update-mime-database "$share/mime"; fi
    if command -v update-desktop-database >/dev/null 2>&1; then update-desktop-database "$share/applications"; fi
    if command -v gtk-update-icon-cache >/dev/null 2>&1; then gtk-update-icon-cache -q -t -f "$share/icons/hicolor" || true; fi
}

if [ "${1:-}" = --remove ]; then
    rm -f "$share/applications/banana100.desktop" "$share/mime/packages/banana100.xml"
    rm -f "$share"/icons/hicolor/*/apps/banana100.*
    refresh
    exit 0
fi

mkdir -p "$share/applications" "$share/mime/packages" "$share/icons/hicolor"
cp -R "$here/share/icons/hicolor/." "$share/icons/hicolor/"
cp "$here/share/mime/packages/banana100.xml" "$share/mime/packages/"
# In an entry, a path with spaces is quoted, and a backslash, quote, dollar or backtick in it is escaped twice.
program=$(printf '%s' "$here/banana100" | sed 's/[\\"`$]/\\\\&/g; s/%/%%/g; s/[\\&|]/\\&/g')
sed "s|^Exec=banana100 |Exec=\"$program\" |" "$here/share/applications/banana100.desktop" \
    >"$share/applications/banana100.desktop"
refresh
