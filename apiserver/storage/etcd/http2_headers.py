"""HTTP/2 header blocks without a dynamic table, so that each stands for itself (RFC 7541).

We announce a table of size 0 and add nothing to the peer's. A block then means the same whenever it
is sent: those of requests are encoded once, and those of responses, which repeat, are decoded once.
"""

from collections.abc import Iterable, Mapping
from typing import Final, cast

from hpack import Decoder, Encoder, HPACKError, NeverIndexedHeaderTuple

from apiserver.storage.etcd.http2_frames import COMPRESSION_ERROR, ProtocolError

MAX_BLOCK_BYTES: Final = 64 << 10
_KEPT_BLOCKS: Final = 64
_KEPT_BLOCK_BYTES: Final = 256


def encode_headers(fields: Iterable[tuple[str, str]]) -> bytes:
    """Return the block of *fields*, of which the peer must index none: one is a token."""
    headers = [NeverIndexedHeaderTuple(name, value) for name, value in fields]
    return Encoder().encode(headers, huffman=False)


class HeaderDecoder:
    """Decodes the header blocks of one connection."""

    def __init__(self) -> None:
        self._decoder = Decoder(max_header_list_size=MAX_BLOCK_BYTES)
        self._decoder.max_allowed_table_size = 0
        self._decoder.header_table_size = 0
        self._kept: dict[bytes, Mapping[str, str]] = {}

    def decode(self, block: bytes) -> Mapping[str, str]:
        """Return the fields of *block*; of a repeated field the last. Raises ProtocolError."""
        fields = self._kept.get(block)
        if fields is None:
            fields = self._decode(block)
            if len(block) <= _KEPT_BLOCK_BYTES and len(self._kept) < _KEPT_BLOCKS:
                self._kept[block] = fields
        return fields

    def _decode(self, block: bytes) -> Mapping[str, str]:
        try:
            fields = self._decoder.decode(block)
        except HPACKError as error:
            raise ProtocolError(f"a header block: {error}", COMPRESSION_ERROR) from error
        # The library's types are those of raw headers, which must be asked for.
        return dict(cast("Iterable[tuple[str, str]]", fields))
