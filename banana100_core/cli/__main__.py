"""`python -m banana100_core.cli`, the same as `banana100`."""

from banana100_core.cli import main

if __name__ == "__main__":
    main()
