import { Context, Effect, Layer, Schema } from "effect"
import { solanaChainId } from "#domain/values/Caip.ts"
import { catalog } from "#sandbox/assets/catalog.ts"
import { isNodeMode, type NodeFault, nodeFault, type NodeFaultDetail, nodeModes } from "#sandbox/faults/NodeFault.ts"

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

/** What a node of an EVM chain may do: also answer what is not so. */
const rpcModes = [...answerModes, ...nodeModes] as const

export const faultModes = [...rpcModes, "lying", "closed", "late", "partial", "refunded", "never", "lost"] as const
export const FaultMode = Schema.Literals(faultModes)
export type FaultMode = typeof FaultMode.Type

/** Endpoints of each EVM chain, over the same chain: one can be wrong while the other is not. */
export const endpointsOfChain = [1, 2] as const

/**
 * A stand-in that can misbehave: the RPC of a chain, by all of its endpoints or by one, the price feed, the stocks feed
 * and its REST API, issuers of tokenized shares, the issuer that is traded with, the routing provider, the bridge, the
 * price attestor, Jupiter, and the landing of Solana's transactions.
 */
export type FaultTarget =
  | `rpc:${number}`
  | RpcEndpoint
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

/** An endpoint of an EVM chain, numbered from one. */
export type RpcEndpoint = `rpc:${number}/${number}`

const solanaRpc: FaultTarget = `rpc:${solanaChainId}`

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
      return target.startsWith("rpc:") && target !== solanaRpc ? rpcModes : answerModes
  }
}

/** Whether a target knows a mode. */
export const isModeOf = (target: FaultTarget, mode: FaultMode): boolean => modesOf(target).includes(mode)

/** The targets of this world, by the names under which the control API knows them. */
export const faultTargets: ReadonlyMap<string, FaultTarget> = new Map<string, FaultTarget>([
  ...catalog.flatMap(({ chainId }) =>
    [`rpc:${chainId}` as const, ...endpointsOfChain.map((endpoint) => `rpc:${chainId}/${endpoint}` as const)].map(
      (target) => [target, target] as const
    )
  ),
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

/** What a target is set to. */
export interface FaultSetting extends NodeFaultDetail {
  readonly mode: FaultMode
  /** Requests that the fault takes; all until the next change by default, one for `drop-next`. */
  readonly count?: number | undefined
}

interface Switch {
  readonly mode: FaultMode
  readonly node: NodeFault | undefined
  left: number
  /** What of a share is owed to the next request. */
  owed: number
}

/** The switches of the stand-ins. */
export class Faults extends Context.Service<
  Faults,
  {
    readonly set: (target: FaultTarget, setting: FaultSetting) => Effect.Effect<void>
    /** The mode of the request that is being answered; uses up one of a counted mode. */
    readonly take: (target: FaultTarget) => Effect.Effect<FaultMode>
    /**
     * Takes the fault of one endpoint of a chain, whose own fault goes before that of all endpoints: what kind of
     * misbehaviour of a node it is, or another mode. Of a share, requests are spread evenly.
     */
    readonly takeOfEndpoint: (chainId: number, endpoint: number) => Effect.Effect<FaultMode | NodeFault>
  }
>()("ballast/sandbox/faults/Faults") {
  static readonly layer = Layer.sync(Faults, () => {
    const switches = new Map<FaultTarget, Switch>()

    const use = (target: FaultTarget): FaultMode | NodeFault => {
      const fault = switches.get(target)
      if (fault === undefined) return "ok"
      fault.owed += fault.node?.share ?? 1
      if (fault.owed < 1) return "ok"
      fault.owed -= 1
      fault.left -= 1
      if (fault.left <= 0) switches.delete(target)
      return fault.node ?? fault.mode
    }

    return Faults.of({
      set: (target, { count, mode, ...detail }) =>
        Effect.sync(() => {
          const left = count ?? (mode === "drop-next" ? 1 : Number.POSITIVE_INFINITY)
          if (mode === "ok") return void switches.delete(target)
          const isOfNode = target.startsWith("rpc:") && isNodeMode(mode)
          switches.set(target, { mode, node: isOfNode ? nodeFault(mode, detail) : undefined, left, owed: 0 })
        }),
      take: (target) =>
        Effect.sync(() => {
          const fault = use(target)
          return typeof fault === "string" ? fault : fault.mode
        }),
      takeOfEndpoint: (chainId, endpoint) =>
        Effect.sync(() => {
          const own: RpcEndpoint = `rpc:${chainId}/${endpoint}`
          return use(switches.has(own) ? own : `rpc:${chainId}`)
        })
    })
  })
}
