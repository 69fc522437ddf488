/** Everything outside of the service in a simulation: chains, market, bridge, and how they fail. */
import { type AssetId, chainIdOf, type AccountId } from "#domain/values/Caip.ts"
import type { Asset } from "#domain/asset/Asset.ts"
import { catalogue } from "#test/support/assets.ts"
import type { Random } from "#test/simulation/harness/Random.ts"
import type { Harness } from "#test/simulation/harness/Harness.ts"
import type { Trace } from "#test/simulation/harness/Trace.ts"
import { Bridge } from "#test/simulation/world/Bridge.ts"
import { Chain, type Inclusion } from "#test/simulation/world/Chain.ts"
import { digestOf } from "#test/simulation/world/Payload.ts"
import { Market } from "#test/simulation/world/Market.ts"

/** How likely each fault of an answer from outside is. */
export interface LinkFaults {
  /** No answer. */
  unreachable: number
  /** An answer after seconds. */
  slow: number
  /** An answer of a node that lags some blocks behind. */
  stale: number
  /** A key that takes longer to sign than a relayer is held for it. */
  keyHangs: number
}

/** Deliberate faults of the service or its environment, by which tests prove that each invariant can break. */
export type Sabotage =
  /** The relayer signs the swaps of each operation a second time, with nonces of their own, and sends both. */
  | "signs twice"
  /** The relayer sends what it signs before it is stored. */
  | "sends early"
  /** The ledger of transfers does not write what is announced or opened. */
  | "ledger loses"
  /** Receipts show a unit more than was moved. */
  | "receipts lie"
  /** What a batch of the account bought passes for something that a bridge brought. */
  | "batches arrive"
  /** What is due is never claimed. */
  | "never claims"
  /** The relayer's key is asked within a transaction of the database. */
  | "signs within a transaction"
  /** What has no attested price is traded all the same. */
  | "trades unattested"

/** What pools hold of each asset at first: more than anybody buys. */
const endowment = 10n ** 30n

export class World {
  readonly harness: Harness
  readonly trace: Trace
  readonly random: Random
  readonly market: Market
  readonly chains: ReadonlyMap<number, Chain>
  readonly bridge: Bridge
  readonly assets: ReadonlyMap<AssetId, Asset> = catalogue
  readonly faults: LinkFaults = { unreachable: 0, slow: 0, stale: 0, keyHangs: 0 }
  readonly sabotage: Sabotage | undefined
  /** Signatures since the last check: what was signed, and whether a transaction was open meanwhile. */
  readonly signatures: Array<{ readonly actionHash: string; readonly isHeld: boolean }> = []
  /** Hashes of what was sent since the last check. */
  readonly sent: Array<string> = []
  /** Hashes of the actions that each transaction includes that the relayer ever signed, by its hash. */
  readonly signed = new Map<string, ReadonlyArray<string>>()
  /** Permissions that their owners took off, by account and id: a chain lets the agent prepare nothing by them. */
  readonly revoked = new Set<string>()
  /** Gas that a transaction of several operations may use; with 0 each goes alone. */
  readonly bundleGas: bigint
  /** The price source does not answer before. */
  pricesDownUntil = 0
  /** Nobody attests a price before. */
  attestorDownUntil = 0
  /** How long keys take, and how old attested prices are: draws of their own, so that others stay as they are. */
  readonly keysAndPrices: Random
  /** Draws when nodes lag or refuse logs. */
  readonly nodes: Random

  constructor(
    { random, harness, trace }: { readonly harness: Harness; readonly trace: Trace; readonly random: Random },
    sabotage?: Sabotage
  ) {
    this.harness = harness
    this.trace = trace
    this.random = random.fork("world")
    this.keysAndPrices = random.fork("keys and prices")
    this.nodes = random.fork("nodes")
    this.sabotage = sabotage
    this.market = new Market(catalogue, random.fork("market"), harness.now)
    const chainIds = [...new Set([...catalogue.values()].map(({ chainId }) => chainId))]
    this.chains = new Map(
      chainIds.map((chainId) => {
        const own = random.fork(`chain ${chainId}`)
        const options = { chainId, blockMs: own.pick([500, 2000, 6000]), confirmations: own.between(1, 5) }
        return [chainId, new Chain({ harness, market: this.market, random: own }, options)] as const
      })
    )
    this.bundleGas = random.fork("bundles").pick([0n, 300_000n, 3_000_000n, 3_000_000n])
    this.bridge = new Bridge(harness, random.fork("bridge"), this.chains)
    for (const chain of this.chains.values()) chain.onInclusion = (inclusion) => this.#recordInclusion(chain, inclusion)
    for (const { assetId, chainId } of catalogue.values()) this.chain(chainId).endow(assetId, endowment)
  }

  chain(chainId: number): Chain {
    return this.chains.get(chainId)!
  }

  /** Somebody sends tokens to an account. */
  deposit(account: AccountId, assetId: AssetId, raw: bigint): void {
    this.#deposits += 1
    const txHash = digestOf(`deposit ${this.#deposits}`)
    this.#deposited.set(txHash, { assetId, raw })
    this.chain(chainIdOf(account)).bring(txHash, [{ account, assetId, raw }])
  }

  #deposits = 0
  readonly #deposited = new Map<string, { readonly assetId: AssetId; readonly raw: bigint }>()

  /** Units that there must be of each asset: those of the beginning, and deposits that are in a block now. */
  included(): ReadonlyMap<AssetId, bigint> {
    const units = new Map([...this.assets.keys()].map((assetId) => [assetId, endowment] as const))
    for (const [txHash, { assetId, raw }] of this.#deposited)
      if (this.chain(chainIdOf(assetId)).find(txHash) !== undefined) units.set(assetId, units.get(assetId)! + raw)
    return units
  }

  #recordInclusion(chain: Chain, { block, execution, txHash }: Inclusion): void {
    const { included, parts, reason } = execution
    const effects = parts.map((part) => (part.success ? "took effect" : `reverted: ${part.reason}`))
    const what = included ? (parts.length === 0 ? "arrival" : `transaction of ${parts.length}`) : "reverted transaction"
    this.trace.note(
      `chain ${chain.chainId}: ${what}`,
      `${txHash.slice(0, 10)} in block ${block} ${included ? effects.join(", ") : `reverted: ${reason}`}`
    )
    const left = parts.flatMap(({ accountId, transfers }) =>
      transfers.map((transfer) => [accountId, transfer] as const)
    )
    for (const [position, [accountId, transfer]] of left.entries())
      this.bridge.take(txHash, accountId, { transfer, position })
  }
}
