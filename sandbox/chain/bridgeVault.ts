/**
 * The bridge vaults of the world: their ABI, what they were asked for, and what became of it, by the chains' own logs.
 */
import { Effect } from "effect"
import { type Address, getAbiItem, type Hex, isAddressEqual, parseAbi, parseEventLogs } from "viem"
import type { Chain } from "#sandbox/chain/Chain.ts"
import { SandboxFailure } from "#sandbox/SandboxFailure.ts"

export const bridgeVaultAbi = parseAbi([
  "function lock(address token, uint256 amount, uint256 destinationChainId, address destinationToken, uint256 minOut, address recipient) returns (bytes32 id)",
  "function release(bytes32 id, address token, uint256 amount, address recipient)",
  "function refund(bytes32 id)",
  "event Locked(bytes32 indexed id, address indexed sender, address token, uint256 amount, uint256 destinationChainId, address destinationToken, uint256 minOut, address recipient)",
  "event Released(bytes32 indexed id, address indexed recipient, address token, uint256 amount)",
  "event Refunded(bytes32 indexed id, address indexed recipient, address token, uint256 amount)"
])

/** Basis points that the bridge keeps. */
export const bridgeFeeBps = 5n

export const afterBridgeFee = (amount: bigint): bigint => (amount * (10_000n - bridgeFeeBps)) / 10_000n

export interface Locked {
  readonly id: Hex
  readonly sender: Address
  readonly token: Address
  readonly amount: bigint
  readonly destinationChainId: bigint
  readonly destinationToken: Address
  readonly minOut: bigint
  readonly recipient: Address
}

const ask = <A>(chain: Chain, run: () => Promise<A>): Effect.Effect<A, SandboxFailure> =>
  Effect.tryPromise({
    try: run,
    catch: (cause) => new SandboxFailure({ message: `Chain ${chain.chainId} does not answer about its bridge`, cause })
  })

/** What was locked in the blocks from `fromBlock` to the latest one, which is answered too. */
export const locksSince = (chain: Chain, fromBlock: bigint) =>
  ask(chain, async () => {
    const head = await chain.client.getBlockNumber({ cacheTime: 0 })
    if (head < fromBlock) return { head, locks: [] as ReadonlyArray<Locked> }
    const logs = await chain.client.getLogs({
      address: chain.contracts.bridge,
      event: getAbiItem({ abi: bridgeVaultAbi, name: "Locked" }),
      fromBlock,
      toBlock: head,
      strict: true
    })
    return { head, locks: logs.map(({ args }): Locked => args) }
  })

/** What a transaction locked; null when the chain does not know the transaction. */
export const locksOf = (chain: Chain, hash: Hex) =>
  ask(chain, async () => {
    const receipt = await chain.client.getTransactionReceipt({ hash }).catch(() => null)
    if (receipt === null) return null
    return parseEventLogs({ abi: bridgeVaultAbi, eventName: "Locked", logs: receipt.logs, strict: true })
      .filter(({ address }) => isAddressEqual(address, chain.contracts.bridge))
      .map(({ args }): Locked => args)
  })

export interface Payout {
  readonly txHash: Hex
  readonly token: Address
  readonly amount: bigint
}

/** What the vault of this chain paid for a lock, as a release or as a refund; null when it did not. */
export const payoutOf = (chain: Chain, name: "Released" | "Refunded", id: Hex) =>
  ask(chain, async (): Promise<Payout | null> => {
    const [log] = await chain.client.getLogs({
      address: chain.contracts.bridge,
      event: getAbiItem({ abi: bridgeVaultAbi, name }),
      args: { id },
      fromBlock: 0n,
      strict: true
    })
    if (log === undefined) return null
    const { args, transactionHash } = log as unknown as {
      readonly args: { readonly token: Address; readonly amount: bigint }
      readonly transactionHash: Hex
    }
    return { txHash: transactionHash, token: args.token, amount: args.amount }
  })
