"""`python -m lapsus`: the same as `lapsus`."""

from lapsus.cli import main

if __name__ == "__main__":
    main()
