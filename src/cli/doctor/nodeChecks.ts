/**
 * Whether an endpoint answers what the service asks of nodes: each method, states of blocks that are not the latest,
 * calls on a state that is made up, and searches of logs. Nothing is sent.
 */
import { Effect, Result } from "effect"
import { BaseError, type Hex, type PublicClient, zeroHash } from "viem"
import { entryPoint, multicall3, multicall3Abi } from "#layers/evm/contracts.ts"
import type { EvmChain } from "#layers/evm/EvmConfig.ts"
import { operationEvent } from "#layers/evm/execution/operationEvents.ts"
import { lateBlocks } from "#layers/evm/OperationTagsLive.ts"
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
  readonly ask: (client: PublicClient, blocks: ProbedBlocks) => Promise<unknown>
}

interface ProbedBlocks {
  /** The latest that counts. */
  readonly settled: bigint
  /** The oldest of which a state is read. */
  readonly oldest: bigint
}

const numberAt = (client: PublicClient, blockNumber: bigint) =>
  client.readContract({ address: multicall3, abi: multicall3Abi, functionName: "getBlockNumber", blockNumber })

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
    ask: (client, { settled }) => numberAt(client, settled)
  },
  {
    method: "eth_getTransactionCount",
    use: "what was sent is never known to be lost",
    ask: (client, { settled }) => client.getTransactionCount({ address: some, blockNumber: settled })
  },
  {
    method: "eth_getTransactionReceipt",
    use: "no transaction is ever seen to land",
    ask: (client) => nothing(client.getTransactionReceipt({ hash: zeroHash }))
  },
  {
    method: "eth_getTransactionByHash",
    use: "after a failover nothing is signed for earlier runs",
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

/** Code that answers with one word, the number one: no account has it. */
const answersOne = "0x600160005260206000f3"
const one = `0x${"1".padStart(64, "0")}`

/** A node that leaves the override out, without an error, answers nothing for an account without code. */
const callOverridden = async (client: PublicClient) => {
  const { data } = await client.call({ to: some, data: "0x", stateOverride: [{ address: some, code: answersOne }] })
  if (data !== one) throw new BaseError("The override was left out", { name: "StateOverrideIgnored" })
}

/** What a part of the service needs, which trades without it. */
const further: ReadonlyArray<Pick<Probe, "ask"> & { readonly what: string; readonly toDo: string }> = [
  {
    what: `the state of ${lateBlocks} blocks ago`,
    toDo: "After a failover of the database that lost commits, earlier runs wait until another endpoint has it; use another one in",
    ask: (client, { oldest }) => numberAt(client, oldest)
  },
  {
    what: "a call with a state override",
    toDo: "A balance that is listed under two addresses is found out by one: until then it counts twice; use another endpoint in",
    ask: callOverridden
  }
]

const furtherFindings = ({ chainId }: EvmChain, which: string, blocks: ProbedBlocks) =>
  Effect.forEach(further, ({ ask, toDo, what }) =>
    Effect.gen(function* () {
      const { request } = yield* EvmClients
      const answer = yield* Effect.result(request(chainId, "eth_call", (client) => ask(client, blocks)))
      if (Result.isSuccess(answer)) return ok(`chain ${chainId}`, `${which} answers ${what}`)
      const detail = `${which} does not answer ${what}: ${answer.failure.reason}`
      return warning(`chain ${chainId}`, detail, `${toDo} RPC_URL_${chainId}.`)
    })
  )

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
  const back = (count: bigint) => (head > count ? head - count : 0n)
  const blocks = { settled: back(BigInt(confirmations)), oldest: back(lateBlocks) }
  const asked = yield* Effect.forEach(probes, ({ ask, method, use }) =>
    Effect.map(
      Effect.result(request(chainId, method, (client) => ask(client, blocks))),
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
  return [
    ...methods,
    logsFinding(chain, which, yield* widestLogs(chain, head)),
    ...(yield* furtherFindings(chain, which, blocks))
  ]
})
