/**
 * Compares secrets in constant time, so that the time of a refusal does not show how much of a guess was right.
 */
import { Mac } from "effect/crypto"

const bytesOf = (text: string) => new TextEncoder().encode(text)

export const isSameSecret = (presented: string, expected: string): boolean =>
  Mac.timingSafeEqual(bytesOf(presented), bytesOf(expected))
