/**
 * A market for shares that never sleeps: every symbol has a price at every moment, the same in each run, since it is a
 * function of the symbol and the world's time alone.
 */
import { createHash } from "node:crypto"

const seedOf = (text: string): number => createHash("sha256").update(text).digest().readUInt32BE() / 2 ** 32

/** Computes a number between -1 and 1 from the symbol and a whole number. */
const noise = (symbol: string, step: number): number => seedOf(`${symbol}@${step}`) * 2 - 1

/** US dollars, to the cent: between 20 and 520, drifting by up to 3 % over hours and 0.1 % from second to second. */
export const sharePrice = (symbol: string, seconds: number): number => {
  const base = 20 + 500 * seedOf(symbol)
  const slow = Math.sin(seconds / 1_700 + 6.28 * seedOf(`${symbol}~`)) * 0.03
  return Math.round(base * (1 + slow + noise(symbol, seconds) * 0.001) * 100) / 100
}

/** Massive's event `A`: the bar of the second that begins at `seconds` (Unix). */
export const secondBar = (symbol: string, seconds: number) => {
  const open = sharePrice(symbol, seconds)
  const close = sharePrice(symbol, seconds + 1)
  const [low, high] = [Math.min(open, close), Math.max(open, close)]
  const volume = 100 + Math.floor(seedOf(`${symbol}#${seconds}`) * 5_000)
  const average = Math.round(((open + close) / 2) * 10_000) / 10_000
  return {
    ev: "A",
    sym: symbol,
    v: volume,
    av: volume * 1_000,
    op: sharePrice(symbol, seconds - (seconds % 86_400)),
    vw: average,
    o: open,
    c: close,
    h: high,
    l: low,
    a: average,
    z: Math.round(volume / 10),
    s: seconds * 1_000,
    e: (seconds + 1) * 1_000,
    dv: `${volume}.0`,
    dav: `${volume * 1_000}.0`
  }
}
