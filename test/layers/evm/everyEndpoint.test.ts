/**
 * What is asked of every endpoint of a chain, while one of them hangs, fails or lies. The limit is on the machine's
 * timer, which stands still here but for what the tests move it.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Option, Result } from "effect"
import { SecureRandom } from "effect/crypto"
import { encodeFunctionResult, type Hex, zeroAddress, zeroHash } from "viem"
import { afterEach, beforeEach, vi } from "vitest"
import { type AccountId, type ChainId, evmAccount, type EvmAddress, evmWallet } from "#domain/values/Caip.ts"
import { ChainUnavailable } from "#domain/chain/ChainUnavailable.ts"
import { PermissionId } from "#domain/account/Authorization.ts"
import type { ChainRevocation } from "#domain/account/Revocation.ts"
import type { SignedTransaction } from "#domain/relay/Transaction.ts"
import { kernelAbi } from "#layers/evm/contracts.ts"
import { batchedReceipts } from "#layers/evm/execution/batchedReceipts.ts"
import { draftRevocation } from "#layers/evm/revocation/draftRevocation.ts"
import { hasEnded } from "#layers/evm/revocation/prepareRevocation.ts"
import type { CallResult } from "#layers/evm/rpc/aggregate.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { concluded, readEach } from "#layers/evm/rpc/quorum.ts"
import { evmConfigOf } from "#test/layers/evm/evmConfig.ts"

const chainId = 8453 as ChainId
const address = "0x52908400098527886E0F7030069857D2E4169EE7" as EvmAddress
const [configured] = evmConfigOf({ chainId }).chains
const account: AccountId = evmAccount(chainId, address)
const permissionId = PermissionId.make("0x01020304")
const limitMillis = 4_000

type Answers = Readonly<Record<string, unknown>>
type Asked = Effect.Effect<unknown, ChainUnavailable>

/** An endpoint with an answer for each method; `readCalls` is the one of reading calls. */
const endpoint = (answer: (method: string) => Asked) =>
  EvmClients.of({
    request: <A>(_: ChainId, method: string) => answer(method) as Effect.Effect<A, ChainUnavailable>,
    readCalls: () =>
      Effect.map(answer("readCalls") as Effect.Effect<ReadonlyArray<CallResult>, ChainUnavailable>, (results) => ({
        results,
        blockNumber: 1n,
        timestamp: 1n
      })),
    chain: () => Effect.succeed(configured!),
    each: () => [],
    heads: () => Effect.succeed([]),
    due: () => Effect.succeed(0n)
  })

const working = (answers: Answers) => endpoint((method) => Effect.succeed(answers[method]))
const hanging = endpoint(() => Effect.never)
const failing = endpoint(() => Effect.fail(new ChainUnavailable({ chainId, reason: "out of sorts" })))

type Endpoint = typeof hanging

const over = (...endpoints: ReadonlyArray<Endpoint>) =>
  Effect.provideService(EvmClients, EvmClients.of({ ...hanging, each: () => endpoints }))

/** Its exit, which must come at the limit and not before: an endpoint hangs. */
const exitAtLimit = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const fiber = yield* Effect.forkChild(effect, { startImmediately: true })
  yield* Effect.promise(() => vi.advanceTimersByTimeAsync(limitMillis - 1))
  assert.isUndefined(fiber.pollUnsafe(), "answered before the limit")
  yield* Effect.promise(() => vi.advanceTimersByTimeAsync(1))
  assert.isDefined(fiber.pollUnsafe(), "still waits after the limit")
  return yield* Fiber.await(fiber)
})

const returned = (data: Hex): CallResult => ({ success: true, data })
const nonceOf = (functionName: "currentNonce" | "validNonceFrom", nonce: number) =>
  returned(encodeFunctionResult({ abi: kernelAbi, functionName, result: nonce }))

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }))
afterEach(() => void vi.useRealTimers())

describe("What every endpoint is asked", () => {
  const blockNumber = readEach(chainId, (position) =>
    Effect.flatMap(EvmClients, ({ request }) =>
      Effect.map(
        request(chainId, "eth_blockNumber", (client) => client.getBlockNumber()),
        (head) => ({ head, position })
      )
    )
  )

  it.effect("is answered in the endpoints' order, without the word of one that hangs for four seconds", () =>
    Effect.gen(function* () {
      const endpoints = [hanging, working({ eth_blockNumber: 7n }), failing]
      const exit = yield* exitAtLimit(blockNumber.pipe(over(...endpoints)))
      assert.isTrue(Exit.isSuccess(exit))
      const results = Exit.isSuccess(exit) ? exit.value : []
      assert.deepStrictEqual(
        results.map((result) => (Result.isSuccess(result) ? result.success : result.failure.reason)),
        ["no answer in time", { head: 7n, position: 1 }, "out of sorts"]
      )
      assert.deepStrictEqual(yield* concluded(chainId, results), [{ head: 7n, position: 1 }])
    })
  )

  it.effect("fails with the words of the first when none answers, and says when none is configured", () =>
    Effect.gen(function* () {
      const none = yield* Effect.flip(concluded(chainId, yield* blockNumber.pipe(over(failing, failing))))
      assert.strictEqual(none.reason, "out of sorts")
      const unconfigured = yield* Effect.flip(concluded(chainId, yield* blockNumber.pipe(over())))
      assert.strictEqual(unconfigured.reason, "no RPC endpoint is configured")
    })
  )
})

describe("The end of a permission", () => {
  const revocation = { chainId, accountId: account, permissionId, validFrom: 3 } as ChainRevocation
  const validation = returned(
    encodeFunctionResult({ abi: kernelAbi, functionName: "validationConfig", result: { nonce: 2, hook: zeroAddress } })
  )
  const shows = (validFrom: number) =>
    working({ eth_blockNumber: 9n, readCalls: [nonceOf("validNonceFrom", validFrom), validation] })

  it.effect("is found by those that answer, while one hangs and one fails", () =>
    Effect.gen(function* () {
      const exit = yield* exitAtLimit(hasEnded(revocation).pipe(over(hanging, shows(3), failing)))
      assert.deepStrictEqual(exit, Exit.succeed(true))
    })
  )

  it.effect("is none while one endpoint says that there is none", () =>
    Effect.gen(function* () {
      assert.isFalse(yield* hasEnded(revocation).pipe(over(shows(3), shows(2))))
    })
  )

  it.effect("is unknown while none answers", () =>
    Effect.gen(function* () {
      const exit = yield* exitAtLimit(Effect.flip(hasEnded(revocation).pipe(over(hanging, hanging))))
      assert.deepStrictEqual(Exit.isSuccess(exit) && exit.value.reason, "no answer in time")
    })
  )
})

describe("The nonce that a revocation ends at", () => {
  const draft = draftRevocation({
    accountType: "ECDSA",
    ownerAccountId: evmWallet(address),
    accountIndex: 0n,
    withdrawalDomainName: null,
    accounts: [{ chainId, accountId: account, permissionId }]
  }).pipe(
    Effect.map(({ chains }) => chains[0].validFrom),
    Effect.provide(SecureRandom.layerWebCrypto)
  )
  const shows = (nonce: number) => working({ readCalls: [nonceOf("currentNonce", nonce)] })

  it.effect("is above the highest that an endpoint shows, while one hangs and one fails", () =>
    Effect.gen(function* () {
      const exit = yield* exitAtLimit(draft.pipe(over(shows(4), hanging, shows(5), failing)))
      assert.deepStrictEqual(exit, Exit.succeed(6))
    })
  )

  it.effect("is not made up when none answers", () =>
    Effect.gen(function* () {
      const exit = yield* exitAtLimit(Effect.flip(draft.pipe(over(hanging, failing))))
      assert.deepStrictEqual(Exit.isSuccess(exit) && exit.value._tag, "VerifierUnavailable")
    })
  )
})

describe("Receipts that are sought together", () => {
  const transaction = {
    chainId,
    actionHash: zeroHash,
    relayer: zeroAddress as string as EvmAddress,
    nonce: 0,
    fromBlock: 1n,
    txHash: zeroHash,
    raw: "0x",
    replaces: []
  } satisfies SignedTransaction
  const shows = (usedNonces: number) =>
    working({
      eth_blockNumber: 9n,
      eth_getLogs: [],
      eth_getTransactionCount: usedNonces,
      eth_getTransactionReceipt: null,
      readCalls: []
    })
  const sought = Effect.flatMap(batchedReceipts(chainId), (find) => find({ transaction, accountId: account }))

  it.effect("are given by those that answer, while one hangs and one fails", () =>
    Effect.gen(function* () {
      const exit = yield* exitAtLimit(Effect.scoped(sought.pipe(over(hanging, shows(0), failing))))
      assert.deepStrictEqual(exit, Exit.succeed(Result.succeed(Option.none())))
    })
  )

  it.effect("are asked about alone where one says that they cannot come any more", () =>
    Effect.gen(function* () {
      const found = yield* Effect.scoped(sought.pipe(over(shows(0), shows(1))))
      assert.deepStrictEqual(found, Result.succeed("inconclusive"))
    })
  )

  it.effect("are unknown while none answers", () =>
    Effect.gen(function* () {
      const exit = yield* exitAtLimit(Effect.scoped(sought.pipe(over(hanging, hanging))))
      const found = Exit.isSuccess(exit) ? exit.value : undefined
      assert.strictEqual(found !== undefined && Result.isFailure(found) && found.failure.reason, "no answer in time")
    })
  )
})
