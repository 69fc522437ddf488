/**
 * Answers of a node that is behind its chain, invents a tip, or keeps logs back, in the words that nodes have for it.
 * Source: Ethereum JSON-RPC; go-ethereum for the texts of errors.
 */
import { Effect } from "effect"
import type { NodeFault, NodeReading } from "#sandbox/faults/NodeFault.ts"

export interface RpcCall {
  readonly method: string
  readonly params?: ReadonlyArray<unknown> | undefined
  readonly id?: unknown
}

export interface RpcAnswer {
  readonly jsonrpc?: string | undefined
  readonly id?: unknown
  readonly result?: unknown
  readonly error?: unknown
}

/** Hands one call to the chain. */
export type AskChain<E> = (call: RpcCall) => Effect.Effect<RpcAnswer, E>

const result = ({ id }: RpcCall, value: unknown): RpcAnswer => ({ jsonrpc: "2.0", id: id ?? null, result: value })
const failure = ({ id }: RpcCall, code: number, message: string): RpcAnswer => ({
  jsonrpc: "2.0",
  id: id ?? null,
  error: { code, message }
})

const hexOf = (block: bigint): string => `0x${block.toString(16)}`
const numberOf = (tag: unknown): bigint | undefined =>
  typeof tag === "string" && /^0x[0-9a-f]+$/iu.test(tag) ? BigInt(tag) : undefined

/** What a method reads, and for states the index of the block among its arguments. */
const readings: Readonly<Record<string, readonly [reading: NodeReading, blockAt?: number]>> = {
  eth_blockNumber: ["blocks"],
  eth_getBlockByNumber: ["blocks", 0],
  eth_getBlockByHash: ["blocks"],
  eth_feeHistory: ["blocks", 1],
  eth_call: ["state", 1],
  eth_estimateGas: ["state", 1],
  eth_getBalance: ["state", 1],
  eth_getCode: ["state", 1],
  eth_getStorageAt: ["state", 2],
  debug_traceCall: ["state", 1],
  eth_getTransactionCount: ["nonces", 1],
  eth_getTransactionReceipt: ["receipts"],
  eth_getTransactionByHash: ["receipts"],
  eth_getLogs: ["logs"]
}

/** The block that an answer stands in; undefined where it stands in none. */
const blockIn = (answer: RpcAnswer, field: string): bigint | undefined =>
  typeof answer.result === "object" && answer.result !== null
    ? numberOf((answer.result as Readonly<Record<string, unknown>>)[field])
    : undefined

/** Logs up to the node's own head: of blocks that it does not have it shows none, without an error. */
const logsUpTo = Effect.fnUntraced(function* <E>(call: RpcCall, head: bigint, ask: AskChain<E>) {
  const filter = { ...(call.params?.[0] as Readonly<Record<string, unknown>>) }
  if (typeof filter["blockHash"] === "string") {
    const block = yield* ask({ method: "eth_getBlockByHash", params: [filter["blockHash"], false], id: 1 })
    const number = blockIn(block, "number")
    return number !== undefined && number <= head ? yield* ask(call) : failure(call, -32000, "unknown block")
  }
  const from = numberOf(filter["fromBlock"])
  if (from !== undefined && from > head) return result(call, [])
  const to = numberOf(filter["toBlock"])
  const toBlock = to === undefined || to > head ? hexOf(head) : filter["toBlock"]
  const fromBlock = from === undefined && filter["fromBlock"] !== "earliest" ? hexOf(head) : filter["fromBlock"]
  return yield* ask({ ...call, params: [{ ...filter, fromBlock, toBlock }] })
})

/** Answers a call as a node does whose latest block is `head`. */
const answerAt = Effect.fnUntraced(function* <E>(call: RpcCall, head: bigint, ask: AskChain<E>) {
  const { method, params = [] } = call
  if (method === "eth_blockNumber") return result(call, hexOf(head))
  if (method === "eth_getLogs") return yield* logsUpTo(call, head, ask)
  const blockAt = readings[method]?.[1]
  if (blockAt === undefined) {
    const answer = yield* ask(call)
    const block = blockIn(answer, method === "eth_getBlockByHash" ? "number" : "blockNumber")
    return block !== undefined && block > head ? result(call, null) : answer
  }
  const asked = numberOf(params[blockAt])
  if (asked !== undefined && asked > head)
    return method === "eth_getBlockByNumber" ? result(call, null) : failure(call, -32000, "header not found")
  if (asked !== undefined || params[blockAt] === "earliest") return yield* ask(call)
  return yield* ask({ ...call, params: params.toSpliced(blockAt, 1, hexOf(head)) })
})

/** The widest range of a search; undefined where its ends are not numbers. */
const rangeOf = ({ params }: RpcCall): bigint | undefined => {
  const filter = params?.[0] as Readonly<Record<string, unknown>> | undefined
  const [from, to] = [numberOf(filter?.["fromBlock"]), numberOf(filter?.["toBlock"])]
  return from === undefined || to === undefined ? undefined : to - from + 1n
}

/** A history of fees in which everybody paid this tip. */
const withTips = (answer: RpcAnswer, tip: string): RpcAnswer => {
  const history = answer.result as { readonly reward?: ReadonlyArray<ReadonlyArray<string>> } | undefined
  if (history?.reward === undefined) return answer
  return { ...answer, result: { ...history, reward: history.reward.map((tips) => tips.map(() => tip)) } }
}

/** One call, answered as the fault has it. */
export const misbehave = Effect.fnUntraced(function* <E>(
  fault: NodeFault,
  call: RpcCall,
  ask: AskChain<E>
): Effect.fn.Return<RpcAnswer, E> {
  const { method } = call
  switch (fault.mode) {
    case "tip":
      if (method === "eth_maxPriorityFeePerGas") return result(call, hexOf(fault.tipWei))
      return method === "eth_feeHistory" ? withTips(yield* ask(call), hexOf(fault.tipWei)) : yield* ask(call)
    case "nologs":
      return method === "eth_getLogs" ? failure(call, -32005, "limit exceeded") : yield* ask(call)
    case "logrange": {
      const range = method === "eth_getLogs" ? rangeOf(call) : undefined
      return range !== undefined && range > fault.blocks
        ? failure(call, -32600, `eth_getLogs is limited to a ${fault.blocks} block range`)
        : yield* ask(call)
    }
    case "lagging":
    case "stale": {
      const reading = readings[method]?.[0]
      if (reading === undefined || !fault.of.has(reading)) return yield* ask(call)
      const answer = yield* ask({ method: "eth_blockNumber", params: [], id: 1 })
      const chainHead = numberOf(answer.result) ?? 0n
      return yield* answerAt(call, chainHead > fault.blocks ? chainHead - fault.blocks : 0n, ask)
    }
  }
})
