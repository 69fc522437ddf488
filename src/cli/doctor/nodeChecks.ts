/**
 * Whether an endpoint answers what the service asks of nodes: each method, the state of blocks that are some minutes
 * old, and searches of logs. Nothing is sent.
 */
import { Effect, Result } from "effect"
import { type Hex, type PublicClient, zeroHash } from "viem"
import { entryPoint, multicall3, multicall3Abi } from "#layers/evm/contracts.ts"
import type { EvmChain } from "#layers/evm/EvmConfig.ts"
import { operationEvent } from "#layers/evm/execution/operationEvents.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { logWidths } from "#layers/evm/rpc/logSearch.ts"
import { rpcErrorOf } from "#layers/evm/rpc/rpcFailure.ts"
import { type Finding, ok, problem, warning } from "#src/cli/doctor/Finding.ts"

/** JSON-RPC: the method does not exist. */
const unknownMethod = -32601

interface Probe {
  readonly method: string
  /** What does not work without it. */
  readonly use: string
  readonly ask: (client: PublicClient, block: bigint) => Promise<unknown>
}

const some = "0x000000000000000000000000000000000000dEaD"

/** Bytes that are no transaction: a node that takes transactions refuses them, and one that does not has no method. */
const sendNothing = (client: PublicClient) =>
  client.request({ method: "eth_sendRawTransaction", params: ["0x00" as Hex] }).catch((error: unknown) => {
    if (rpcErrorOf(error)?.code === unknownMethod) throw error
  })

const nothing = (asked: Promise<unknown>) =>
  asked.catch((error: unknown) => {
    if (rpcErrorOf(error) !== undefined) throw error
  })

const probes: ReadonlyArray<Probe> = [
  {
    method: "eth_call",
    use: "balances, quotes and simulations are not read",
    ask: (client, block) =>
      client.readContract({
        address: multicall3,
        abi: multicall3Abi,
        functionName: "getBlockNumber",
        blockNumber: block
      })
  },
  {
    method: "eth_getTransactionCount",
    use: "what was sent is never known to be lost",
    ask: (client, block) => client.getTransactionCount({ address: some, blockNumber: block })
  },
  {
    method: "eth_getTransactionReceipt",
    use: "no transaction is ever seen to land",
    ask: (client) => nothing(client.getTransactionReceipt({ hash: zeroHash }))
  },
  {
    method: "eth_getTransactionByHash",
    use: "after a failover nothing is signed for runs of before",
    ask: (client) => nothing(client.getTransaction({ hash: zeroHash }))
  },
  {
    method: "eth_estimateGas",
    use: "what transactions cost is not known",
    ask: (client) => client.estimateGas({ account: some, to: some })
  },
  {
    method: "eth_feeHistory",
    use: "no transaction is priced",
    ask: (client) => client.getFeeHistory({ blockCount: 1, blockTag: "latest", rewardPercentiles: [50] })
  },
  {
    method: "eth_getBalance",
    use: "funds of relayers are not seen",
    ask: (client) => client.getBalance({ address: some })
  },
  { method: "eth_getCode", use: "contracts are not checked", ask: (client) => client.getCode({ address: multicall3 }) },
  { method: "eth_sendRawTransaction", use: "nothing is sent through it", ask: sendNothing }
]

/** The widest range of logs that the endpoint takes, 0 where it refuses all, and its last words. */
const widestLogs = Effect.fnUntraced(function* ({ chainId }: EvmChain, head: bigint) {
  const { request } = yield* EvmClients
  let refusal = ""
  for (const blocks of logWidths) {
    const fromBlock = head > blocks ? head - blocks + 1n : 0n
    const logs = yield* Effect.result(
      request(chainId, "eth_getLogs", (client) =>
        client.getLogs({ address: entryPoint, event: operationEvent, args: { sender: some }, fromBlock, toBlock: head })
      )
    )
    if (Result.isSuccess(logs)) return { blocks, refusal }
    refusal = logs.failure.reason
  }
  return { blocks: 0n, refusal }
})

const logsFinding = (
  { chainId }: EvmChain,
  which: string,
  { blocks, refusal }: { readonly blocks: bigint; readonly refusal: string }
): Finding => {
  const subject = `chain ${chainId}`
  if (blocks === logWidths[0]) return ok(subject, `${which} searches logs of ${blocks} blocks in one request`)
  if (blocks > 0n)
    return warning(
      subject,
      `${which} searches logs of ${blocks} blocks in one request, not ${logWidths[0]}: ${refusal}`,
      `Searches take more requests; use an endpoint in RPC_URL_${chainId} that takes ${logWidths[0]}.`
    )
  return warning(
    subject,
    `${which} searches no logs: ${refusal}`,
    `It finds the service's own transactions, and neither what somebody else submitted nor what a bridge brought; use another endpoint in RPC_URL_${chainId}.`
  )
}

/** Checks one endpoint, over which alone the clients are; `which` names it. */
export const nodeChecks = Effect.fnUntraced(function* (chain: EvmChain, which: string) {
  const { chainId, confirmations } = chain
  const subject = `chain ${chainId}`
  const { request } = yield* EvmClients
  const head = yield* request(chainId, "eth_blockNumber", (client) => client.getBlockNumber({ cacheTime: 0 }))
  const settled = head > BigInt(confirmations) ? head - BigInt(confirmations) : head
  const asked = yield* Effect.forEach(probes, ({ ask, method, use }) =>
    Effect.map(
      Effect.result(request(chainId, method, (client) => ask(client, settled))),
      (answer): ReadonlyArray<Finding> =>
        Result.isSuccess(answer)
          ? []
          : [
              problem(
                subject,
                `${which} does not answer ${method} as it must: ${answer.failure.reason}`,
                `Until then ${use} through it; use another endpoint in RPC_URL_${chainId}.`
              )
            ]
    )
  )
  const failed = asked.flat()
  const methods = failed.length > 0 ? failed : [ok(subject, `${which} answers every method that is asked of it`)]
  return [...methods, logsFinding(chain, which, yield* widestLogs(chain, head))]
})
