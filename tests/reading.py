"""What the tests of the readers share."""

import re

import pytest

from scca.readers import PairError, read_pairs

MIB = 2**20


def refusal(*arguments, read=read_pairs, **keywords):
    """The one sentence by which a reader refuses."""
    with pytest.raises(PairError) as caught:
        read(*arguments, **keywords)
    message = str(caught.value)
    assert message.endswith(".")
    assert "\n" not in message
    assert not re.search(r"\. [A-Z]", message)
    return message


def tmx_unit(content):
    if isinstance(content, dict):
        content = "".join(f'<tuv xml:lang="{k}"><seg>{v}</seg></tuv>' for k, v in content.items())
    return f"<tu>{content}</tu>\n"


def tmx(*units, head='<?xml version="1.0"?>', root="<tmx version='1.4'>"):
    """A translation memory; a unit is {language: content of seg} or XML."""
    return f"{head}\n{root}<header><prop>x</prop></header><body>{''.join(map(tmx_unit, units))}</body></tmx>"
