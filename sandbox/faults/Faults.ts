import { Context, Effect, Layer, Schema } from "effect"
import { solanaChainId } from "#domain/Caip.ts"
import { catalog } from "#sandbox/assets/catalog.ts"

/** How a stand-in may misbehave. `drop-next` does the work and drops the answer. */
const answerModes = [
  "ok",
  "down",
  "slow",
  "error",
  "rate-limited",
  "unauthorized",
  "forbidden",
  "truncated",
  "drop-next"
] as const

/**
 * What a thief of the attestor's key, or its clock, may make of its answers: prices of long ago, and of its own making.
 */
const attestorModes = [...answerModes, "stale", "lying"] as const

/** What an issuer may answer: that its market is shut, or its signature over a worse price than it quotes. */
const issuerModes = [...answerModes, "closed", "lying"] as const

/** What the bridge may do with what it took: deliver late, another token, give it back, or keep it. */
export const bridgeModes = ["ok", "down", "slow", "late", "partial", "refunded", "never"] as const

/** What becomes of transactions that the Solana node takes: they land, land some slots later, or are lost. */
const landingModes = ["ok", "late", "lost"] as const

export const faultModes = [
  ...answerModes,
  "stale",
  "lying",
  "closed",
  "late",
  "partial",
  "refunded",
  "never",
  "lost"
] as const
export const FaultMode = Schema.Literals(faultModes)
export type FaultMode = typeof FaultMode.Type

/**
 * A stand-in that can misbehave: the RPC of a chain, the price feed, the stocks feed and its REST API, issuers of
 * tokenized shares, the issuer that is traded with, the routing provider, the bridge, the price attestor, Jupiter, and
 * the landing of Solana's transactions.
 */
export type FaultTarget =
  | `rpc:${number}`
  | "prices"
  | "massive"
  | "massive-rest"
  | "issuers"
  | "ondo"
  | "lifi"
  | "bridge"
  | "attestor"
  | "jupiter"
  | "landing"

const modesOf = (target: FaultTarget): ReadonlyArray<FaultMode> => {
  switch (target) {
    case "bridge":
      return bridgeModes
    case "attestor":
      return attestorModes
    case "ondo":
      return issuerModes
    case "landing":
      return landingModes
    default:
      return answerModes
  }
}

/** Whether a target knows a mode. */
export const isModeOf = (target: FaultTarget, mode: FaultMode): boolean => modesOf(target).includes(mode)

/** The targets of this world, by the names under which the control API knows them. */
export const faultTargets: ReadonlyMap<string, FaultTarget> = new Map<string, FaultTarget>([
  ...catalog.map((chain) => [`rpc:${chain.chainId}`, `rpc:${chain.chainId}`] as const),
  ["prices", "prices"],
  ["coingecko", "prices"],
  ["massive", "massive"],
  ["massive-rest", "massive-rest"],
  ["issuers", "issuers"],
  ["ondo", "ondo"],
  ["lifi", "lifi"],
  ["bridge", "bridge"],
  ["attestor", "attestor"],
  [`rpc:${solanaChainId}`, `rpc:${solanaChainId}`],
  ["jupiter", "jupiter"],
  ["landing", "landing"]
])

/** The switches of the stand-ins. */
export class Faults extends Context.Service<
  Faults,
  {
    /** Sets the mode of the next `count` requests, or of all until the next change; `drop-next` counts 1 by default. */
    readonly set: (target: FaultTarget, mode: FaultMode, count: number | undefined) => Effect.Effect<void>
    /** The mode of the request that is being answered; uses up one of a counted mode. */
    readonly take: (target: FaultTarget) => Effect.Effect<FaultMode>
  }
>()("ballast/sandbox/faults/Faults") {
  static readonly layer = Layer.sync(Faults, () => {
    const switches = new Map<FaultTarget, { readonly mode: FaultMode; left: number }>()
    return Faults.of({
      set: (target, mode, count) =>
        Effect.sync(() => {
          const left = count ?? (mode === "drop-next" ? 1 : Number.POSITIVE_INFINITY)
          if (mode === "ok") switches.delete(target)
          else switches.set(target, { mode, left })
        }),
      take: (target) =>
        Effect.sync(() => {
          const fault = switches.get(target)
          if (fault === undefined) return "ok"
          fault.left -= 1
          if (fault.left <= 0) switches.delete(target)
          return fault.mode
        })
    })
  })
}
