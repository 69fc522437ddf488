/**
 * Whether a run that was crashed left what an undisturbed one leaves.
 *
 * Everything must be equal but for: hashes, blocks and gas; the events of waiting, `retrying` with its reason and the
 * `running` that ends it, of which there may be more; and, where pools move, amounts within a small share, and what was
 * too little to act upon.
 */
import type { FinalState } from "#test/fault/crash/finalState.ts"

const waiting = new Set([
  "retrying",
  "withdrawal_waits",
  "action_waits",
  "waiting_for_account",
  "revocation_waits",
  "receipt_waits",
  "gas_waits",
  "reading_waits",
  "transfer_unclear"
])

const withoutWaits = (events: ReadonlyArray<string>) =>
  events
    .filter((event) => !waiting.has(event))
    .filter((event, index, all) => event !== "running" || all[index - 1] !== event)

const varying = new Set(["txHash", "blockHash", "blockNumber", "gasUsed", "actionHash", "bridgeAddress"])

const amount = /^-?\d+$/
const identifier = /^(eip155:|0x)/
/** Raw units of any token that are dust. */
const dust = 1_000

/** Amounts may differ by the share, and where they may, sentences by the numbers in them. */
const sameText = (a: string, b: string, share: number): boolean => {
  if (a === b) return true
  if (share === 0 || identifier.test(a)) return false
  if (!amount.test(a) || !amount.test(b)) return a.replace(/\d+/g, "#") === b.replace(/\d+/g, "#")
  const [x, y] = [Number(a), Number(b)]
  return Math.abs(x - y) <= Math.max(dust, share * Math.max(Math.abs(x), Math.abs(y)))
}

/** Where the two differ, as paths with both values. */
const differences = (
  { a, b }: { readonly a: unknown; readonly b: unknown },
  share: number,
  path: string
): ReadonlyArray<string> => {
  const differs = [`${path}: ${JSON.stringify(b)} instead of ${JSON.stringify(a)}`]
  if (typeof a === "string" && typeof b === "string") return sameText(a, b, share) ? [] : differs
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b ? [] : differs
  const [left, right] = [a, b] as ReadonlyArray<Readonly<Record<string, unknown>>>
  const keys = [...new Set([...Object.keys(left!), ...Object.keys(right!)])]
  return (
    keys
      // What was too little to act upon follows from where pools stood, and from when an aged plan was made anew.
      .filter((key) => !varying.has(key) && !(share > 0 && key === "skips"))
      .flatMap((key) => differences({ a: left![key], b: right![key] }, share, `${path}.${key}`))
  )
}

const nothing: FinalState["left"] = { intents: 0, executions: 0, operations: 0 }

/** What must be true of any final state. */
const faults = ({ left, nonces }: FinalState): ReadonlyArray<string> => [
  ...differences({ a: nothing, b: left }, 0, "left"),
  ...nonces.flatMap(({ highest, signed, used }, index) =>
    signed === highest + 1 && used === signed
      ? []
      : [`nonces.${index}: ${signed} signed up to ${highest}, ${used} used by the chain`]
  )
]

export const compareStates = (undisturbed: FinalState, crashed: FinalState, share: number): ReadonlyArray<string> => {
  const { left: _, nonces: __, ...expected } = undisturbed
  const { left: ___, nonces: ____, ...actual } = crashed
  const comparable = ({ operations, ...rest }: typeof expected) => ({
    ...rest,
    operations: operations.map(({ attempts, events, ...operation }) => ({
      ...operation,
      // What waits is numbered as well, so numbers depend on how long it did; their order does not.
      attempts: attempts.map(({ chain, status }) => ({ chain, status })),
      events: withoutWaits(events)
    }))
  })
  return [...faults(crashed), ...differences({ a: comparable(expected), b: comparable(actual) }, share, "state")]
}
