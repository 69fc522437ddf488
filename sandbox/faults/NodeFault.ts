/**
 * How a node of a chain misbehaves: it answers, and what it answers is not what the chain is. Public nodes do all of
 * this, since one address is often many machines that are not equally far.
 */
import { Schema } from "effect"

/** Modes that only nodes of EVM chains know. `stale` is one of theirs too, and of others. */
export const nodeModes = ["lagging", "stale", "tip", "nologs", "logrange"] as const
export type NodeMode = (typeof nodeModes)[number]

/** What a node may be behind with; what is left out is answered as of the head. */
export const nodeReadings = ["blocks", "state", "nonces", "receipts", "logs"] as const
export type NodeReading = (typeof nodeReadings)[number]

const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** What the control API may say beside the mode. */
export const nodeFaultFields = {
  /** `lagging`, `stale`: how many blocks behind. `logrange`: how many blocks one search of logs may reach over. */
  blocks: Schema.optionalKey(between(1, 10_000)),
  /** `lagging`, `stale`: what is behind; all of it by default. */
  of: Schema.optionalKey(
    Schema.Array(Schema.Literals(nodeReadings)).check(Schema.isMinLength(1), Schema.isMaxLength(5))
  ),
  /** Which share of the requests is answered so: half of them by default when `stale`, else all. */
  share: Schema.optionalKey(Schema.Finite.check(Schema.isBetween({ minimum: 0.01, maximum: 1 }))),
  /** `tip`: the priority fee that the node suggests, wei in decimal. */
  tipWei: Schema.optionalKey(Schema.String.check(Schema.isPattern(/^(0|[1-9][0-9]{0,30})$/u)))
} as const

const NodeFaultDetail = Schema.Struct(nodeFaultFields)
export type NodeFaultDetail = typeof NodeFaultDetail.Type

export interface NodeFault {
  readonly mode: NodeMode
  readonly blocks: bigint
  readonly of: ReadonlySet<NodeReading>
  readonly share: number
  readonly tipWei: bigint
}

const defaultBlocks: Readonly<Record<NodeMode, bigint>> = { lagging: 3n, stale: 3n, logrange: 10n, tip: 0n, nologs: 0n }
const defaultTipWei = 500_000_000_000n

export const isNodeMode = (mode: string): mode is NodeMode => (nodeModes as ReadonlyArray<string>).includes(mode)

export const nodeFault = (mode: NodeMode, { blocks, of, share, tipWei }: NodeFaultDetail): NodeFault => ({
  mode,
  blocks: blocks === undefined ? defaultBlocks[mode] : BigInt(blocks),
  of: new Set(of ?? nodeReadings),
  share: share ?? (mode === "stale" ? 0.5 : 1),
  tipWei: tipWei === undefined ? defaultTipWei : BigInt(tipWei)
})
