/**
 * The bridge pools of the world: their ABI, what was deposited, and what became of it, by the chains' own logs.
 */
import { Effect } from "effect"
import {
  type Address,
  encodeFunctionData,
  getAbiItem,
  type Hex,
  isAddressEqual,
  keccak256,
  pad,
  parseAbi,
  parseEventLogs,
  slice,
  toHex,
  zeroHash
} from "viem"
import type { Chain } from "#sandbox/chain/Chain.ts"
import { SandboxFailure } from "#sandbox/SandboxFailure.ts"

export const spokePoolAbi = parseAbi([
  "struct RelayData { bytes32 depositor; bytes32 recipient; bytes32 exclusiveRelayer; bytes32 inputToken; bytes32 outputToken; uint256 inputAmount; uint256 outputAmount; uint256 originChainId; uint256 depositId; uint32 fillDeadline; uint32 exclusivityDeadline; bytes message; }",
  "function deposit(bytes32 depositor, bytes32 recipient, bytes32 inputToken, bytes32 outputToken, uint256 inputAmount, uint256 outputAmount, uint256 destinationChainId, bytes32 exclusiveRelayer, uint32 quoteTimestamp, uint32 fillDeadline, uint32 exclusivityParameter, bytes message) payable",
  "function fillRelay(RelayData relay)",
  "function fillInstead(RelayData relay, address token, uint256 amount)",
  "function refund(uint256 depositId)",
  "event FundsDeposited(bytes32 inputToken, bytes32 outputToken, uint256 inputAmount, uint256 outputAmount, uint256 indexed destinationChainId, uint256 indexed depositId, uint32 quoteTimestamp, uint32 fillDeadline, uint32 exclusivityDeadline, bytes32 indexed depositor, bytes32 recipient, bytes32 exclusiveRelayer, bytes message)",
  "event Filled(uint256 indexed originChainId, uint256 indexed depositId, address indexed recipient, address token, uint256 amount)",
  "event Refunded(uint256 indexed depositId, address indexed depositor, address token, uint256 amount)"
])

/** Basis points that the bridge keeps of what it is asked to quote. */
export const bridgeFeeBps = 5n

export const afterBridgeFee = (amount: bigint): bigint => (amount * (10_000n - bridgeFeeBps)) / 10_000n

/** Seconds in which a quoted deposit is filled. */
const fillSeconds = 3_600

export interface Deposit {
  readonly depositId: bigint
  readonly originChainId: number
  readonly depositor: Address
  readonly recipient: Address
  readonly token: Address
  readonly amount: bigint
  readonly destinationChainId: bigint
  readonly destinationToken: Address
  /** Exactly what arrives. */
  readonly outputAmount: bigint
  readonly fillDeadline: number
}

const addressIn = (word: Hex): Address => slice(word, 12)

interface FundsDeposited {
  readonly inputToken: Hex
  readonly outputToken: Hex
  readonly inputAmount: bigint
  readonly outputAmount: bigint
  readonly destinationChainId: bigint
  readonly depositId: bigint
  readonly fillDeadline: number
  readonly depositor: Hex
  readonly recipient: Hex
}

const depositIn = ({ chainId }: Chain, args: FundsDeposited): Deposit => ({
  depositId: args.depositId,
  originChainId: chainId,
  depositor: addressIn(args.depositor),
  recipient: addressIn(args.recipient),
  token: addressIn(args.inputToken),
  amount: args.inputAmount,
  destinationChainId: args.destinationChainId,
  destinationToken: addressIn(args.outputToken),
  outputAmount: args.outputAmount,
  fillDeadline: args.fillDeadline
})

/** Names a deposit across chains. */
export const idOf = ({ depositId, originChainId }: Deposit): Hex => keccak256(toHex(`${originChainId}/${depositId}`))

/** Calldata of a deposit as the provider quotes it at a time, in seconds since 1970. */
export const quotedDeposit = (
  order: Pick<Deposit, "amount" | "destinationChainId" | "destinationToken" | "outputAmount" | "token">,
  account: Address,
  quotedAt: number
): Hex =>
  encodeFunctionData({
    abi: spokePoolAbi,
    functionName: "deposit",
    args: [
      pad(account),
      pad(account),
      pad(order.token),
      pad(order.destinationToken),
      order.amount,
      order.outputAmount,
      order.destinationChainId,
      zeroHash,
      quotedAt,
      quotedAt + fillSeconds,
      0,
      "0x"
    ]
  })

const relayOf = (deposit: Deposit) => ({
  depositor: pad(deposit.depositor),
  recipient: pad(deposit.recipient),
  exclusiveRelayer: zeroHash,
  inputToken: pad(deposit.token),
  outputToken: pad(deposit.destinationToken),
  inputAmount: deposit.amount,
  outputAmount: deposit.outputAmount,
  originChainId: BigInt(deposit.originChainId),
  depositId: deposit.depositId,
  fillDeadline: deposit.fillDeadline,
  exclusivityDeadline: 0,
  message: "0x" as const
})

/** Calldata by which the pool of the destination pays what was asked for. */
export const fillData = (deposit: Deposit): Hex =>
  encodeFunctionData({ abi: spokePoolAbi, functionName: "fillRelay", args: [relayOf(deposit)] })

/** Calldata by which it pays another token instead. */
export const fillInsteadData = (deposit: Deposit, token: Address, amount: bigint): Hex =>
  encodeFunctionData({ abi: spokePoolAbi, functionName: "fillInstead", args: [relayOf(deposit), token, amount] })

const ask = <A>(chain: Chain, run: () => Promise<A>): Effect.Effect<A, SandboxFailure> =>
  Effect.tryPromise({
    try: run,
    catch: (cause) => new SandboxFailure({ message: `Chain ${chain.chainId} does not answer about its bridge`, cause })
  })

/** Time of the latest block, in seconds since 1970. */
export const timeOf = (chain: Chain) => ask(chain, async () => Number((await chain.client.getBlock()).timestamp))

/** What was deposited in the blocks from `fromBlock` to the latest one, which is answered too. */
export const depositsSince = (chain: Chain, fromBlock: bigint) =>
  ask(chain, async () => {
    const head = await chain.client.getBlockNumber({ cacheTime: 0 })
    if (head < fromBlock) return { head, deposits: [] as ReadonlyArray<Deposit> }
    const logs = await chain.client.getLogs({
      address: chain.contracts.bridge,
      event: getAbiItem({ abi: spokePoolAbi, name: "FundsDeposited" }),
      fromBlock,
      toBlock: head,
      strict: true
    })
    return { head, deposits: logs.map(({ args }) => depositIn(chain, args)) }
  })

/** What a transaction deposited; null when the chain does not know the transaction. */
export const depositsOf = (chain: Chain, hash: Hex) =>
  ask(chain, async () => {
    const receipt = await chain.client.getTransactionReceipt({ hash }).catch(() => null)
    if (receipt === null) return null
    return parseEventLogs({ abi: spokePoolAbi, eventName: "FundsDeposited", logs: receipt.logs, strict: true })
      .filter(({ address }) => isAddressEqual(address, chain.contracts.bridge))
      .map(({ args }) => depositIn(chain, args))
  })

export interface Payout {
  readonly txHash: Hex
  readonly token: Address
  readonly amount: bigint
}

/** What the pool of this chain paid for a deposit, filling it or giving it back; null when it did not. */
export const payoutOf = (
  chain: Chain,
  name: "Filled" | "Refunded",
  { depositId, originChainId }: Pick<Deposit, "depositId" | "originChainId">
) =>
  ask(chain, async (): Promise<Payout | null> => {
    const query = { address: chain.contracts.bridge, fromBlock: 0n, strict: true } as const
    const [log] =
      name === "Filled"
        ? await chain.client.getLogs({
            ...query,
            event: getAbiItem({ abi: spokePoolAbi, name }),
            args: { originChainId: BigInt(originChainId), depositId }
          })
        : await chain.client.getLogs({
            ...query,
            event: getAbiItem({ abi: spokePoolAbi, name }),
            args: { depositId }
          })
    if (log === undefined) return null
    return { txHash: log.transactionHash, token: log.args.token, amount: log.args.amount }
  })
