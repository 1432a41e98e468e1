"""Protobuf (`application/vnd.kubernetes.protobuf`) for Models that declare field numbers.

    codec = ProtobufCodec()
    body = codec.encode(gadget, api_version="example.io/v1", kind="Gadget")
    envelope = codec.read_envelope(body)
    gadget = codec.decode(Gadget, envelope.raw)

No code is generated. On first use of a class, the codec computes its field numbers (`layout`),
registers them with the protobuf library (`descriptors`), and builds a reader and a writer
(`message_reader`, `message_writer`).
"""

from apimachinery.protobuf.framing import MAX_FRAME, Unframer, frame
from apimachinery.protobuf.protobuf_codec import MAGIC, Envelope, ProtobufCodec
from apimachinery.protobuf.protobuf_errors import InvalidProtobuf, NoProtobufForm

__all__ = [
    "MAGIC",
    "MAX_FRAME",
    "Envelope",
    "InvalidProtobuf",
    "NoProtobufForm",
    "ProtobufCodec",
    "Unframer",
    "frame",
]
