#!/bin/sh
# Make the virtual environment and install what is missing: sh packaging/setup.sh [metrics] [dev]
# Without "metrics" neither torch nor pyiqa is installed: everything but the learned metrics works.
set -eu
cd "$(dirname "$0")/.."

say() { printf '%s\n' "$*" >&2; }

packages="libdbus-1-3 libegl1 libfontconfig1 libgl1 libglib2.0-0 libgomp1 libxcb-cursor0 libxcb-icccm4 libxcb-image0 libxcb-keysyms1
libxcb-randr0 libxcb-render-util0 libxcb-shape0 libxcb-xinerama0 libxkbcommon-x11-0 libxkbcommon0 fonts-dejavu-core"
case " $* " in *" dev "*) packages="$packages xvfb" ;; esac

python=
for candidate in python3.11 python3 python3.13 python3.12; do
    if command -v "$candidate" >/dev/null 2>&1 &&
        "$candidate" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null; then
        python=$candidate
        break
    fi
done
if [ -z "$python" ]; then packages="$packages python3 python3-venv"
elif ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then packages="$packages python3-venv"; fi

if command -v dpkg-query >/dev/null 2>&1; then
    present() { dpkg-query -W -f '${Status}' "$1" 2>/dev/null | grep -q 'ok installed'; }
    missing=
    for package in $packages; do
        # Debian 13 gave some libraries a longer name, which apt finds by the old one.
        present "$package" || present "${package}t64" || missing="$missing $package"
    done
    if [ -n "$missing" ]; then
        if [ "$(id -u)" = 0 ]; then
            say "Installing system packages:$missing"
            apt-get update -qq >&2
            DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >&2
        else
            say "System packages are missing. Type this line, then try again:"
            say "    sudo apt-get install -y --no-install-recommends$missing"
            exit 2
        fi
    fi
fi
[ -n "$python" ] || python=python3

wanted=$(cat pyproject.toml packaging/setup.sh | cksum)
installed() { [ "$(cat ".venv/.installed-$1" 2>/dev/null)" = "$wanted" ]; }

[ -x .venv/bin/python ] || "$python" -m venv .venv
needed=
for extra in base "$@"; do installed "$extra" || needed="$needed $extra"; done
[ -n "$needed" ] || exit 0

# An extra that was installed before stays in step with the pins.
extras=$(for extra in metrics dev; do
    case " $* " in *" $extra "*) echo "$extra" ;; *) [ -e ".venv/.installed-$extra" ] && echo "$extra" ;; esac
done | paste -sd, -)
case ",$extras," in
    *,metrics,*) say "Installing packages, torch and pyiqa among them: about 7 GB, some minutes the first time." ;;
    *) say "Installing packages." ;;
esac
.venv/bin/python -m pip install --quiet --disable-pip-version-check --editable ".${extras:+[$extras]}"
case ",$extras," in
    *,metrics,*)
        # facexlib, which pyiqa needs, brings the OpenCV build that points Qt to its own plugins.
        if .venv/bin/python -m pip show --quiet opencv-python 2>/dev/null; then
            .venv/bin/python -m pip uninstall --quiet --yes opencv-python opencv-python-headless
            .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps opencv-python-headless
        fi
        ;;
esac
for extra in base $(echo "$extras" | tr , ' '); do printf '%s\n' "$wanted" >".venv/.installed-$extra"; done
