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
