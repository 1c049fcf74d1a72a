"""`python -m scca` is the `scca` command."""

from .cli import main

if __name__ == "__main__":
    main()
