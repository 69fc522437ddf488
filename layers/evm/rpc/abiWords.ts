/**
 * ABI encoding as text, put together from words: of what contains whole operations and of what answers many calls. viem
 * reads every digit several times for each `bytes` in which something is nested.
 * Source: Solidity's contract ABI specification.
 */
import { type Hex, hexToBigInt, size } from "viem"

const wordBytes = 32

/** A whole number that is not negative. Like all words here, without `0x`. */
export const numberWord = (value: bigint | number): string => value.toString(16).padStart(2 * wordBytes, "0")

export const addressWord = (address: Hex): string =>
  address
    .slice(2)
    .toLowerCase()
    .padStart(2 * wordBytes, "0")

/** `bytes`: how many, and themselves, filled up to whole words. */
export const bytesWords = (data: Hex): string => {
  const words = Math.ceil((data.length - 2) / (2 * wordBytes))
  return numberWord((data.length - 2) / 2) + data.slice(2).padEnd(2 * wordBytes * words, "0")
}

/** Items of any length: how many, where each begins, and themselves. */
export const arrayWords = (items: ReadonlyArray<string>): string => {
  let begin = wordBytes * items.length
  const begins = items.map((item) => {
    const word = numberWord(begin)
    begin += item.length / 2
    return word
  })
  return numberWord(items.length) + begins.join("") + items.join("")
}

/** The digits of so many bytes. Throws where the data ends before. */
const digitsAt = (data: Hex, at: number, count: number): string => {
  const digits = data.slice(2 + 2 * at, 2 + 2 * (at + count))
  if (digits.length !== 2 * count) throw new Error(`The data has no ${count} bytes at ${at}`)
  return digits
}

/** A number that counts or positions something in the data. Throws where it is too large for that. */
export const numberAt = (data: Hex, at: number): number => {
  const number = Number.parseInt(digitsAt(data, at, wordBytes), 16)
  if (!(number < data.length)) throw new Error(`The number at ${at} is larger than the data`)
  return number
}

/** `bytes` of which the length stands at the position. Throws where the data ends before. */
export const bytesAt = (data: Hex, at: number): Hex => `0x${digitsAt(data, at + wordBytes, numberAt(data, at))}`

/** Where the items of an array begin of which the length stands at the position. */
export const itemsAt = (data: Hex, at: number): ReadonlyArray<number> => {
  const first = at + wordBytes
  return Array.from({ length: numberAt(data, at) }, (_, index) => first + numberAt(data, first + wordBytes * index))
}

/** The 256-bit number that a call returned; null when it failed or returned something else. */
export const uintOf = (result: { readonly success: boolean; readonly data: Hex } | undefined): bigint | null =>
  result?.success === true && size(result.data) === wordBytes ? hexToBigInt(result.data) : null
