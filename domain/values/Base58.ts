/**
 * Base58 as Bitcoin and Solana write bytes: no `0`, `O`, `I` and `l`, one leading `1` for each leading zero byte.
 */

const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
const shape = new RegExp(`^[${alphabet}]{32,44}$`)

/** True for the text of exactly 32 bytes, such as a Solana address or mint. Every such text has one spelling. */
export const isBytes32 = (text: string): boolean => {
  if (!shape.test(text)) return false
  let value = 0n
  for (const character of text) value = value * 58n + BigInt(alphabet.indexOf(character))
  const leadingZeros = text.length - text.replace(/^1+/, "").length
  const digits = value === 0n ? 0 : Math.ceil(value.toString(16).length / 2)
  return leadingZeros + digits === 32
}

/** The text of bytes of any length. */
export const encode = (bytes: Uint8Array): string => {
  let value = 0n
  for (const byte of bytes) value = value * 256n + BigInt(byte)
  let digits = ""
  for (; value > 0n; value /= 58n) digits = alphabet[Number(value % 58n)]! + digits
  const zeros = bytes.findIndex((byte) => byte !== 0)
  return "1".repeat(zeros === -1 ? bytes.length : zeros) + digits
}

/** The bytes of a text of at most 2,000 characters; undefined when it is not base58. */
export const decode = (text: string): Uint8Array | undefined => {
  if (text.length > 2_000) return undefined
  let value = 0n
  for (const character of text) {
    const digit = alphabet.indexOf(character)
    if (digit === -1) return undefined
    value = value * 58n + BigInt(digit)
  }
  const zeros = text.length - text.replace(/^1+/, "").length
  const bytes: Array<number> = []
  for (; value > 0n; value /= 256n) bytes.unshift(Number(value % 256n))
  return Uint8Array.from([...Array.from({ length: zeros }, () => 0), ...bytes])
}
