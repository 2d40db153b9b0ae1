#!/bin/sh
# Make .venv, or bring it up to date.
#
#   sh tools/venv.sh EXTRA    install this project, editable, with the extra of that name
#   sh tools/venv.sh look     forget the stamps of a .venv that no longer runs, or was moved here from elsewhere
#
# Only sh and a Python are needed: no uv, no home directory, no service. The file .venv/.unfinished stands while something
# is installed, so what a killed run leaves behind is thrown away by the next one instead of being trusted.
set -eu

venv=.venv
python=$venv/bin/python
needs='import sys; sys.exit(sys.version_info < (3, 11))'

is_sound() {
    [ ! -e "$venv/.unfinished" ] && [ "$(cat "$venv/.made-at" 2>/dev/null)" = "$(pwd)" ] && "$python" -c "$needs" 2>/dev/null
}

# Every folder of PATH is asked for every name, because the first hit may be a shim that cannot run.
find_python() {
    found_without_venv=''
    for name in ${PYTHONS:-python3.14 python3.13 python3.12 python3.11 python3}; do
        old_ifs=$IFS
        IFS=:
        set -f
        for folder in $PATH; do
            IFS=$old_ifs
            candidate=${folder:-.}/$name
            [ -f "$candidate" ] && [ -x "$candidate" ] || continue
            "$candidate" -c "$needs" >/dev/null 2>&1 || continue
            if "$candidate" -c 'import venv, ensurepip' >/dev/null 2>&1; then
                return 0
            fi
            found_without_venv=$("$candidate" -c 'import sys; print("python%d.%d" % sys.version_info[:2])')
        done
        IFS=$old_ifs
        set +f
    done
    if [ -n "$found_without_venv" ]; then
        echo "Semel needs Python's venv module, which $found_without_venv lacks here: install the package $found_without_venv-venv (or python3-venv)." >&2
    else
        echo "Semel needs Python 3.11 or newer, and none runs here: install the packages python3 and python3-venv." >&2
    fi
    return 1
}

# Python compiles what it imports; compiled beforehand, everything that is installed would take up half as much again.
# What pip says is shown only when it fails, and without addresses: they are nobody's business in a shared log.
pip_install() {
    log=$(mktemp)
    if "$python" -m pip --disable-pip-version-check --no-input --quiet install --no-compile \
        -c constraints.txt "$@" >"$log" 2>&1; then
        rm -f "$log"
        return 0
    fi
    sed 's#[A-Za-z+]*://[^ ]*#(address)#g' "$log" >&2
    rm -f "$log"
    return 1
}

give_up() {
    rm -rf "$venv"
    echo "The environment could not be made; $venv was removed." >&2
    exit 1
}

if [ "${1:?which extra?}" = look ]; then
    [ ! -d "$venv" ] || is_sound || rm -f "$venv/.stamp-demo" "$venv/.stamp-dev"
    exit 0
fi

# Without a home there is no place for a cache, and pip would make one at the root of the disk.
[ -n "${HOME:-}" ] && [ -d "$HOME" ] || export PIP_NO_CACHE_DIR=1

trap 'give_up' HUP INT TERM
if ! is_sound; then
    find_python
    rm -rf "$venv"
    echo "Making $venv with $candidate"
    "$candidate" -m venv "$venv" || give_up
    pwd >"$venv/.made-at"
fi
: >"$venv/.unfinished"
echo "Installing semel[$1] into $venv"
# The build backend comes from constraints.txt too: an isolated build would fetch whichever is newest.
pip_install hatchling && pip_install --no-build-isolation -e ".[$1]" || give_up
rm -f "$venv/.unfinished"
