/**
 * Endpoints of one chain that mean it badly: they keep transactions to themselves, invent nonces, redirect, and never
 * stop talking.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schedule } from "effect"
import { createServer, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { parseEther } from "viem"
import type { ChainId, EvmAddress } from "#domain/values/Caip.ts"
import type { SignedTransaction } from "#domain/relay/Transaction.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { EvmConfig } from "#layers/evm/EvmConfig.ts"
import { readRelayerNonces } from "#layers/evm/execution/chainState.ts"
import { readUsedNonces } from "#layers/evm/execution/relayerNonce.ts"
import { sendTransaction } from "#layers/evm/execution/sendTransaction.ts"
import { maxAnswerBytes } from "#layers/evm/rpc/jsonRpcOverHttp.ts"
import { evmConfigOf } from "#test/layers/evm/evmConfig.ts"

const chainId = 8453 as ChainId
const relayer = "0xF1F1F1F1F1F1F1F1F1F1F1F1F1F1F1F1F1F1F1F1"
const txHash = `0x${"11".repeat(32)}`

type Answer = (method: string, response: ServerResponse) => unknown

/** An endpoint whose answers are made by hand; `undefined` is no answer at all. */
const endpoint = (answer: Answer) =>
  Effect.gen(function* () {
    const methods: Array<string> = []
    const server = createServer((request, response) => {
      let body = ""
      request.on("data", (chunk) => (body += chunk))
      request.on("end", () => {
        const { id, method } = JSON.parse(body) as { readonly id: number; readonly method: string }
        methods.push(method)
        const result = method === "eth_chainId" ? "0x2105" : answer(method, response)
        if (result === undefined) return
        const rest = result instanceof Error ? { error: { code: -32000, message: result.message } } : { result }
        response.setHeader("content-type", "application/json")
        response.end(JSON.stringify({ jsonrpc: "2.0", id, ...rest }))
      })
    })
    yield* Effect.acquireRelease(
      Effect.callback<void>((resume) => {
        server.listen(0, "127.0.0.1", () => resume(Effect.void))
      }),
      () =>
        Effect.sync(() => {
          server.closeAllConnections()
          server.close()
        })
    )
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, methods }
  })

const clientsOver = (...urls: ReadonlyArray<string>) => {
  const config = Layer.succeed(
    EvmConfig,
    evmConfigOf({
      chainId,
      rpcUrls: urls as [string, ...Array<string>],
      gasCeiling: 10n ** 12n,
      minTip: 0n,
      lowRelayerFunds: parseEther("0.01")
    })
  )
  return EvmClients.layer.pipe(Layer.provide(config))
}

const transaction: SignedTransaction = {
  chainId,
  actionHash: txHash,
  relayer: relayer as EvmAddress,
  nonce: 1,
  txHash,
  raw: "0x02",
  fromBlock: 0n,
  replaces: []
}

const taken = (method: string) => (method === "eth_sendRawTransaction" ? txHash : null)
const counts = (nonce: string) => (method: string) => (method === "eth_getTransactionCount" ? nonce : null)
const silent = () => undefined
const fails = () => new Error("out of sorts")
const sends = ({ methods }: { readonly methods: ReadonlyArray<string> }) =>
  methods.filter((method) => method === "eth_sendRawTransaction").length

const pendingNonce = Effect.map(readRelayerNonces(chainId, [relayer]), ({ chainNonce }) => chainNonce)

describe("a broadcast", () => {
  it.live("goes to every endpoint of the chain, so that one that passes nothing on holds nothing up", () =>
    Effect.gen(function* () {
      const endpoints = yield* Effect.all([endpoint(taken), endpoint(taken), endpoint(taken)])
      const clients = clientsOver(...endpoints.map(({ url }) => url))
      yield* Effect.replicateEffect(sendTransaction(transaction), 5).pipe(Effect.provide(clients))
      yield* Effect.suspend(() => Effect.succeed(endpoints.map(sends))).pipe(
        Effect.repeat({ schedule: Schedule.spaced("20 millis"), until: (sent) => sent.every((count) => count >= 5) }),
        Effect.timeoutOption("30 seconds")
      )
      assert.deepStrictEqual(endpoints.map(sends), [5, 5, 5])
    })
  )

  it.live("has succeeded when one endpoint took it, whatever the others say or do not say", () =>
    Effect.gen(function* () {
      const endpoints = yield* Effect.all([endpoint(silent), endpoint(fails), endpoint(taken)])
      const clients = clientsOver(...endpoints.map(({ url }) => url))
      yield* sendTransaction(transaction).pipe(Effect.provide(clients), Effect.timeout("3 seconds"))
    })
  )

  it.live("has failed when none took it, with the words of an endpoint", () =>
    Effect.gen(function* () {
      const endpoints = yield* Effect.all([endpoint(fails), endpoint(fails)])
      const clients = clientsOver(...endpoints.map(({ url }) => url))
      const error = yield* Effect.flip(Effect.provide(sendTransaction(transaction), clients))
      assert.include(error.reason, "out of sorts")
    })
  )

  it.live("says that the nonce is used when endpoints say so and none took it", () =>
    Effect.gen(function* () {
      const used = (method: string) =>
        method === "eth_sendRawTransaction" ? new Error("nonce too low: next nonce 2, tx nonce 1") : null
      const endpoints = yield* Effect.all([endpoint(fails), endpoint(used)])
      const clients = clientsOver(...endpoints.map(({ url }) => url))
      const error = yield* Effect.flip(Effect.provide(sendTransaction(transaction), clients))
      assert.include(error.reason, "nonce 1 of the relayer is used")
    })
  )
})

describe("the nonce of a relayer account", () => {
  const cases = [
    ["is no higher than two endpoints show, when one shows more", [counts("0xf4240"), counts("0x7")], 7],
    ["is no higher than two of three show", [counts("0xf4240"), counts("0x7"), counts("0x7")], 7],
    ["moves nothing when only one of several answers", [counts("0xf4240"), fails], 0],
    ["is what the only endpoint of a chain shows", [counts("0x9")], 9]
  ] as const

  for (const [title, answers, expected] of cases) {
    it.live(title, () =>
      Effect.gen(function* () {
        const endpoints = yield* Effect.forEach(answers as ReadonlyArray<Answer>, endpoint)
        const clients = clientsOver(...endpoints.map(({ url }) => url))
        assert.strictEqual(yield* Effect.provide(pendingNonce, clients), expected)
      })
    )
  }

  it.live("counts as used only as far as two endpoints show", () =>
    Effect.gen(function* () {
      const endpoints = yield* Effect.forEach([counts("0xf4240"), counts("0x7")], endpoint)
      const clients = clientsOver(...endpoints.map(({ url }) => url))
      assert.strictEqual(yield* Effect.provide(readUsedNonces(chainId, relayer), clients), 7)
    })
  )

  it.live("is read within seconds while an endpoint is silent, and not at all while all are", () =>
    Effect.gen(function* () {
      const [quiet, working] = yield* Effect.all([endpoint(silent), endpoint(counts("0x7"))])
      const used = readUsedNonces(chainId, relayer)
      assert.strictEqual(yield* Effect.provide(used, clientsOver(quiet.url, working.url)), 7)
      const error = yield* Effect.flip(Effect.provide(pendingNonce, clientsOver(quiet.url, quiet.url)))
      assert.strictEqual(error._tag, "ChainUnavailable")
    })
  )
})

describe("an endpoint", () => {
  const blockNumber = Effect.flatMap(EvmClients, ({ request }) =>
    request(chainId, "eth_blockNumber", (client) => client.getBlockNumber({ cacheTime: 0 }))
  )

  it.live("that redirects is not followed", () =>
    Effect.gen(function* () {
      const elsewhere = yield* endpoint(() => "0x1")
      const redirecting = yield* endpoint((_, response) => {
        response.writeHead(307, { location: elsewhere.url }).end()
      })
      const error = yield* Effect.flip(Effect.provide(blockNumber, clientsOver(redirecting.url)))
      assert.include(error.reason, "redirects")
      assert.deepStrictEqual(elsewhere.methods, [])
    })
  )

  it.live("that answers without an end is cut off", () =>
    Effect.gen(function* () {
      let sent = 0
      const endless = yield* endpoint((_, response) => {
        const chunk = " ".repeat(64 * 1024)
        response.writeHead(200, { "content-type": "application/json" })
        const more = () => {
          while (!response.destroyed && sent < 20 * maxAnswerBytes) {
            sent += chunk.length
            if (!response.write(chunk)) return void response.once("drain", more)
          }
        }
        more()
      })
      const error = yield* Effect.flip(Effect.provide(blockNumber, clientsOver(endless.url)))
      assert.include(error.reason, `longer than ${maxAnswerBytes} bytes`)
      assert.isBelow(sent, 10 * maxAnswerBytes)
    })
  )

  it.live("that begins an answer and does not end it is given up", () =>
    Effect.gen(function* () {
      const dripping = yield* endpoint((_, response) => {
        response.writeHead(200, { "content-type": "application/json" }).write("{")
      })
      const alone = Effect.flatMap(EvmClients, ({ each }) =>
        each(chainId)[0]!.request(chainId, "eth_blockNumber", (client) => client.getBlockNumber({ cacheTime: 0 }))
      )
      const error = yield* Effect.flip(Effect.provide(alone, clientsOver(dripping.url, dripping.url)))
      assert.include(error.reason, "no answer in time")
    })
  )
})
