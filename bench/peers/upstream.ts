/**
 * The chains and the price source that the service and the peers read positions from: fixed balances and prices,
 * answered at once, in the form of JSON-RPC with Multicall3 and of CoinGecko. What is measured is the answer from the
 * memory of 30 seconds; this program is asked when that memory is empty or old.
 */
import { createServer, type IncomingMessage } from "node:http"
import {
  type Address,
  decodeFunctionData,
  encodeFunctionResult,
  erc20Abi,
  type Hex,
  multicall3Abi,
  numberToHex
} from "viem"
import { serve } from "#bench/peers/serve.ts"

const head = 1_000_000n
const balanceOf = "0x70a08231"
const getEthBalance = "0x4d2301cc"

interface Rpc {
  readonly id: unknown
  readonly method: string
  readonly params: readonly [{ readonly data: Hex }, ...Array<unknown>]
}

/** Differs by token and by account. */
const balance = (token: Address, data: Hex): bigint => {
  const { args } = decodeFunctionData({ abi: erc20Abi, data })
  return ((BigInt(token) % 7n) + 1n) * 1_000_003n * ((BigInt(String(args?.[0])) % 1_000_000n) + 1n)
}

/** No account has a native coin. Every call that is not for a balance asks for the number or the time of the block. */
const resultOf = (target: Address, data: Hex): bigint => {
  if (data.startsWith(balanceOf)) return balance(target, data)
  return data.startsWith(getEthBalance) ? 0n : head
}

const call = (data: Hex): Hex => {
  const { args } = decodeFunctionData({ abi: multicall3Abi, data })
  const calls = (args?.[0] ?? []) as ReadonlyArray<{ readonly target: Address; readonly callData: Hex }>
  return encodeFunctionResult({
    abi: multicall3Abi,
    functionName: "aggregate3",
    result: calls.map(({ callData, target }) => ({
      success: true,
      returnData: numberToHex(resultOf(target, callData), { size: 32 })
    }))
  })
}

const answerRpc = (chainId: number, { id, method, params }: Rpc) => {
  const results: Readonly<Record<string, () => Hex>> = {
    eth_chainId: () => numberToHex(chainId),
    eth_blockNumber: () => numberToHex(head),
    eth_call: () => call(params[0].data)
  }
  const result = results[method]
  return result === undefined
    ? { jsonrpc: "2.0", id, error: { code: -32_601, message: `${method} is not served here` } }
    : { jsonrpc: "2.0", id, result: result() }
}

/** An odd price for every other token. */
const answerPrices = (addresses: ReadonlyArray<string>) => {
  const now = Math.floor((performance.timeOrigin + performance.now()) / 1_000)
  return Object.fromEntries(
    addresses.map((address) => [
      address,
      { usd: BigInt(address) % 2n === 0n ? 0.999871 : 2_503.172, last_updated_at: now }
    ])
  )
}

const bodyOf = async (request: IncomingMessage): Promise<Rpc> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return JSON.parse(Buffer.concat(chunks).toString("utf8")) as Rpc
}

/** `POST /<chainId>` is a chain; `GET /simple/token_price/<platform>` are prices; anything else is not found. */
const answer = async (request: IncomingMessage): Promise<object | undefined> => {
  const url = new URL(request.url ?? "/", "http://upstream")
  if (request.method === "POST") return answerRpc(Number(url.pathname.slice(1)), await bodyOf(request))
  if (!url.pathname.startsWith("/simple/token_price/")) return undefined
  return answerPrices((url.searchParams.get("contract_addresses") ?? "").split(","))
}

serve(async () => {
  const server = createServer((request, response) => {
    answer(request).then(
      (body) =>
        response
          .writeHead(body === undefined ? 404 : 200, { "content-type": "application/json" })
          .end(JSON.stringify(body ?? {})),
      (error: unknown) => response.writeHead(400).end(String(error))
    )
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return server
})
