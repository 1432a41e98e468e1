"""`application/vnd.kubernetes.protobuf`, for Models whose fields declare their numbers.

    codec = ProtobufCodec()
    body = codec.encode(gadget, api_version="example.io/v1", kind="Gadget")
    envelope = codec.read_envelope(body)
    gadget = codec.decode(Gadget, envelope.raw)

Nothing is generated: a class is laid out (`layout`), described to the protobuf library
(`descriptors`), and given a reader and a writer (`reading`, `writing`) when it is first used.
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
