"use strict"

/** Whole numbers as bytes, without native code. What does not fit is refused: bytes that were cut are another number. */

const toHex = (number, width) => {
  const hex = number.toString(16)
  if (number < 0n || hex.length > width * 2) throw new RangeError(`${number} does not fit into ${width} bytes`)
  return hex.padStart(width * 2, "0")
}

const fromHex = (hex) => (hex === "" ? 0n : BigInt(`0x${hex}`))

exports.toBigIntBE = (bytes) => fromHex(Buffer.from(bytes).toString("hex"))
exports.toBigIntLE = (bytes) => fromHex(Buffer.from(Buffer.from(bytes).toReversed()).toString("hex"))
exports.toBufferBE = (number, width) => Buffer.from(toHex(number, width), "hex")
exports.toBufferLE = (number, width) => Buffer.from(Buffer.from(toHex(number, width), "hex").toReversed())
