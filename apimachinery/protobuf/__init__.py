"""Protobuf (`application/vnd.kubernetes.protobuf`) for Models that declare field numbers.

    codec = ProtobufCodec()
    body = codec.encode(gadget, api_version="example.io/v1", kind="Gadget")
    envelope = codec.read_envelope(body)
    gadget = codec.decode(Gadget, envelope.raw)

No code is generated. On first use of a class, the codec computes its field numbers (`layout`),
registers them with the protobuf library (`descriptors`), and builds a reader and a writer
(`message_reader`, `message_writer`).
"""

from typing import TYPE_CHECKING

from apimachinery.lazy_names import lazy_names

if TYPE_CHECKING:
    from apimachinery.protobuf.framing import MAX_FRAME as MAX_FRAME
    from apimachinery.protobuf.framing import Unframer as Unframer
    from apimachinery.protobuf.framing import frame as frame
    from apimachinery.protobuf.protobuf_codec import MAGIC as MAGIC
    from apimachinery.protobuf.protobuf_codec import Envelope as Envelope
    from apimachinery.protobuf.protobuf_codec import ProtobufCodec as ProtobufCodec
    from apimachinery.protobuf.protobuf_errors import InvalidProtobuf as InvalidProtobuf
    from apimachinery.protobuf.protobuf_errors import NoProtobufForm as NoProtobufForm
else:
    # Programs whose documents are JSON need the errors and no protobuf library.
    __getattr__, __all__ = lazy_names(
        __name__,
        {
            "framing": "MAX_FRAME Unframer frame",
            "protobuf_codec": "Envelope MAGIC ProtobufCodec",
            "protobuf_errors": "InvalidProtobuf NoProtobufForm",
        },
    )
