/** Accounts whose permission is the guard's: what they cost, what needs no new signature, and how a permission ends. */
import { deflateRawSync } from "node:zlib"
import { assert, describe, layer } from "@effect/vitest"
import { Clock, Effect } from "effect"
import { type Address, encodeFunctionData, hexToBigInt, type Hex, hexToBytes, parseEventLogs } from "viem"
import { signFee } from "#test/layers/evm/guard/signFee.ts"
import { tradeGuardAbi } from "#layers/evm/tradeGuard.ts"
import { Relayer } from "#domain/relay/Relayer.ts"
import { UserOperations } from "#domain/relay/UserOperations.ts"
import { SwapBatches } from "#domain/trading/SwapBatches.ts"
import { type Chain, tokenBySymbol } from "#sandbox/chain/Chain.ts"
import { silenceFeed } from "#sandbox/chain/priceFeeds.ts"
import { transact } from "#test/solidity/routedSwaps.ts"
import { evmPolicy } from "#layers/evm/address.ts"
import {
  batchOf,
  type Enrollment,
  enroll,
  EvmWorld,
  execute,
  fund,
  GuardedWorldLive,
  owner,
  patientAdapter,
  quotedSwap,
  confirmed,
  splitSwaps,
  stranger,
  token
} from "#test/layers/evm/EvmWorld.ts"
import { asTransaction } from "#domain/relay/Transaction.ts"

const swapOf = (
  enrollment: Enrollment,
  chain: Chain,
  { amount, buy, sell }: { readonly sell: string; readonly buy: string; readonly amount: bigint }
) => Effect.map(quotedSwap(chain, { sell, buy, sellAmountRaw: amount }), (swap) => batchOf(enrollment, chain, [swap]))

/** Gas of the transaction, and bytes of its calldata: as it is, and compressed as a rollup posts it. */
const cost = Effect.fnUntraced(function* (
  enrollment: Enrollment,
  chain: Chain,
  ...swaps: ReadonlyArray<readonly [sell: string, buy: string, amount: bigint]>
) {
  const quoted = yield* Effect.forEach(swaps, ([sell, buy, amount]) =>
    quotedSwap(chain, { sell, buy, sellAmountRaw: amount })
  )
  const { prepared, receipt, signed } = yield* execute(batchOf(enrollment, chain, quoted))
  assert.isTrue(receipt.success)
  const { gasUsed } = yield* Effect.promise(() => chain.client.getTransactionReceipt({ hash: signed.txHash as Hex }))
  const bytes = hexToBytes(prepared.callData as Hex)
  return { gas: Number(gasUsed), bytes: bytes.length, compressedBytes: deflateRawSync(bytes).length }
})

const enrolled = Effect.fnUntraced(function* (chain: Chain, index: bigint) {
  const enrollment = yield* enroll(index, [[chain, "USDC", "WETH"]])
  yield* fund(chain, enrollment.account, { symbol: "USDC", raw: 1_000_000_000n })
  return enrollment
})

/** The owner's signature, signed as a wallet would and submitted by somebody else. */
const revoke = Effect.fnUntraced(function* (chain: Chain, { account }: Enrollment) {
  const address = account as string as Address
  // Permissions are dated by the service's clock; the latest block may be older than the one in question.
  const issuedBefore = Math.floor((yield* Clock.currentTimeMillis) / 1_000)
  const signature = yield* Effect.promise(() =>
    owner.signTypedData({
      domain: { name: "Ballast", version: "1" },
      types: {
        Revoke: [
          { name: "account", type: "address" },
          { name: "issuedBefore", type: "uint40" }
        ]
      },
      primaryType: "Revoke",
      message: { account: address, issuedBefore }
    })
  )
  const { status } = yield* transact(chain, stranger, {
    to: chain.contracts.guard,
    data: encodeFunctionData({
      abi: tradeGuardAbi,
      functionName: "revoke",
      args: [address, owner.address, issuedBefore, signature]
    })
  })
  assert.strictEqual(status, "success")
})

const refusal = (enrollment: Enrollment, chain: Chain) =>
  Effect.gen(function* () {
    const execution = yield* SwapBatches
    return yield* Effect.flip(
      execution.prepare(yield* swapOf(enrollment, chain, { sell: "USDC", buy: "WETH", amount: 10_000_000n }))
    )
  })

const feeBps = 25n

/** Buys WETH for a hundred dollars; its gas, and what it bought and paid as a fee. */
const bought = Effect.fnUntraced(function* (chain: Chain, enrollment: Enrollment) {
  yield* Effect.sleep("1100 millis")
  const swap = yield* quotedSwap(
    chain,
    { sell: "USDC", buy: "WETH", sellAmountRaw: 100_000_000n },
    { toleranceBps: 50n }
  )
  const { signed } = yield* execute(batchOf(enrollment, chain, [swap]))
  const { gasUsed, logs } = yield* Effect.promise(() =>
    chain.client.getTransactionReceipt({ hash: signed.txHash as Hex })
  )
  const fees = parseEventLogs({ abi: tradeGuardAbi, eventName: "FeeTaken", logs })
  const [traded] = parseEventLogs({ abi: tradeGuardAbi, eventName: "Traded", logs })
  return { gas: Number(gasUsed), fees: fees.map(({ args }) => args), net: traded!.args.bought }
})

describe("accounts under the guard", () => {
  layer(GuardedWorldLive, { excludeTestServices: true })((it) => {
    it.effect(
      "first operation at most 900,000 gas and 900 bytes compressed, a later swap 330,000 alone, two 530,000",
      () =>
        Effect.gen(function* () {
          const { base: chain } = yield* EvmWorld
          const enrollment = yield* enrolled(chain, 301n)
          // A pool keeps its average price once a second, and its first entry ever costs more: all that counts comes
          // later.
          const nextSecond = Effect.sleep("1100 millis")
          const swap = ["USDC", "WETH", 100_000_000n] as const
          const first = yield* cost(enrollment, chain, swap)
          assert.isAtMost(first.gas, 900_000)
          assert.isAtMost(first.bytes, 4_000)
          assert.isAtMost(first.compressedBytes, 900)
          yield* fund(chain, enrollment.account, { symbol: "cbBTC", raw: 1_000n })
          const both = [
            ["USDC", "WETH", 50_000_000n],
            ["USDC", "cbBTC", 50_000_000n]
          ] as const
          yield* nextSecond
          yield* cost(enrollment, chain, ...both)
          yield* nextSecond
          const later = yield* cost(enrollment, chain, swap)
          assert.isAtMost(later.gas, 330_000)
          assert.isAtMost(later.bytes, 1_950)
          assert.isAtMost(later.compressedBytes, 400)
          yield* nextSecond
          const two = yield* cost(enrollment, chain, ...both)
          assert.isAtMost(two.gas, 530_000)
        })
    )

    it.effect("a fee costs at most 15,000 gas more, and is the signed share for whom the owner signed", () =>
      Effect.gen(function* () {
        const { base: chain } = yield* EvmWorld
        const enrollment = yield* enrolled(chain, 331n)
        yield* bought(chain, enrollment)
        yield* bought(chain, enrollment)
        const without = yield* bought(chain, enrollment)
        assert.deepStrictEqual(without.fees, [])
        yield* signFee(chain, enrollment, { index: 331n, recipient: stranger.address, bps: Number(feeBps) })
        yield* bought(chain, enrollment)
        const { fees, gas, net } = yield* bought(chain, enrollment)
        const [fee] = fees
        assert.lengthOf(fees, 1)
        assert.strictEqual(fee!.recipient, stranger.address)
        assert.strictEqual(fee!.amount, ((net + fee!.amount) * feeBps) / 10_000n)
        assert.isAtMost(gas - without.gas, 15_000)
      })
    )

    it.effect("a trade over several paths is one operation, and brings what its quotes say", () =>
      Effect.gen(function* () {
        const { base: chain } = yield* EvmWorld
        const enrollment = yield* enroll(321n, [[chain, "USDC", "WETH", "cbBTC"]])
        // Three quarters of the account: all of it at this impact, with both bands, is more than its budget.
        yield* fund(chain, enrollment.account, { symbol: "USDC", raw: 400_000_000_000n })
        const { quote, single, swaps } = yield* splitSwaps(chain, {
          sell: "USDC",
          buy: "cbBTC",
          sellAmountRaw: 300_000_000_000n
        })
        assert.isAbove(swaps.length, 1)
        const { receipt } = yield* execute(batchOf(enrollment, chain, swaps))
        assert.isTrue(receipt.success)
        const bought = receipt.deltas.find(({ assetId }) => assetId === swaps[0]!.buy)
        assert.strictEqual(bought?.raw, quote.buyAmountRaw)
        assert.isTrue(quote.buyAmountRaw > single.buyAmountRaw)
      })
    )

    it.effect("five later swaps of five accounts in one transaction cost at most 260,000 gas each", () =>
      Effect.gen(function* () {
        const { base: chain } = yield* EvmWorld
        const { bundle } = yield* UserOperations
        const relay = yield* Relayer
        const enrollments = yield* Effect.forEach([311n, 312n, 313n, 314n, 315n], (index) => enrolled(chain, index))
        // The first operation of each account and the one after it cost more for good.
        for (const enrollment of [...enrollments, ...enrollments])
          yield* cost(enrollment, chain, ["USDC", "WETH", 100_000_000n])
        yield* Effect.sleep("1100 millis")
        const execution = yield* SwapBatches
        const [first, ...others] = yield* Effect.forEach(enrollments, (enrollment) =>
          Effect.gen(function* () {
            const swap = yield* quotedSwap(
              chain,
              { sell: "USDC", buy: "WETH", sellAmountRaw: 100_000_000n },
              { toleranceBps: 50n }
            )
            return asTransaction(yield* execution.prepare(batchOf(enrollment, chain, [swap])))
          })
        )
        const { kept, transaction } = yield* bundle([first!, ...others])
        assert.strictEqual(kept.length, 5)
        const signed = yield* relay.sign(transaction, transaction.chainNonce)
        yield* relay.broadcast(signed)
        const receipt = yield* confirmed({ ...signed, actionHash: others.at(-1)!.actionHash }, others.at(-1)!.accountId)
        assert.isTrue(receipt.success)
        const { gasUsed } = yield* Effect.promise(() =>
          chain.client.getTransactionReceipt({ hash: signed.txHash as Hex })
        )
        assert.isAtMost(Number(gasUsed) / 5, 260_000)
      })
    )

    it.effect(
      "a token that the owner never signed is traded without a signature, for the chain's registry lists it",
      () =>
        Effect.gen(function* () {
          const { base: chain } = yield* EvmWorld
          const enrollment = yield* enrolled(chain, 302n)
          assert.notInclude(evmPolicy(enrollment.authorization.chains[0]).tokens, token(chain, "AERO"))
          const { receipt } = yield* execute(
            yield* swapOf(enrollment, chain, { sell: "USDC", buy: "AERO", amount: 100_000_000n })
          )
          assert.isTrue(receipt.success)
        })
    )

    it.effect("nothing is traded while a token's feed is silent", () =>
      Effect.gen(function* () {
        const { base: chain } = yield* EvmWorld
        const enrollment = yield* enrolled(chain, 303n)
        const weth = tokenBySymbol(chain, "WETH")
        const { timestamp } = yield* Effect.promise(() => chain.client.getBlock())
        yield* silenceFeed(chain.client, weth, timestamp - 86_401n)
        const failure = yield* refusal(enrollment, chain)
        yield* silenceFeed(chain.client, weth, 0n)
        assert.strictEqual(failure._tag, "SimulationFailed")
        assert.include(failure.message, "StalePrice")
        const { receipt } = yield* execute(
          yield* swapOf(enrollment, chain, { sell: "USDC", buy: "WETH", amount: 10_000_000n })
        )
        assert.isTrue(receipt.success)
      })
    )

    it.effect("the owner's signature ends the permission, and the owner's next signature begins another", () =>
      Effect.gen(function* () {
        const { base: chain } = yield* EvmWorld
        const enrollment = yield* enrolled(chain, 304n)
        yield* execute(yield* swapOf(enrollment, chain, { sell: "USDC", buy: "WETH", amount: 10_000_000n }))
        yield* revoke(chain, enrollment)
        const failure = yield* refusal(enrollment, chain)
        assert.strictEqual(failure._tag, "AuthorizationRequired")
        assert.include(failure.message, "ended the agent's permission")
        yield* Effect.sleep("1100 millis")
        const next = yield* enroll(304n, [[chain, "USDC", "WETH"]])
        const { receipt } = yield* execute(
          yield* swapOf(next, chain, { sell: "USDC", buy: "WETH", amount: 10_000_000n })
        )
        assert.isTrue(receipt.success)
        const replaced = yield* refusal(enrollment, chain)
        assert.strictEqual(replaced._tag, "AuthorizationRequired")
      })
    )

    it.effect("a permission whose time is over needs the owner", () =>
      Effect.gen(function* () {
        const { arbitrum: chain } = yield* EvmWorld
        const enrollment = yield* enroll(305n, [[chain, "USDC", "WETH"]])
        yield* fund(chain, enrollment.account, { symbol: "USDC", raw: 1_000_000_000n })
        yield* execute(yield* swapOf(enrollment, chain, { sell: "USDC", buy: "WETH", amount: 10_000_000n }))
        yield* Effect.promise(() => chain.client.increaseTime({ seconds: 181 * 86_400 }))
        yield* Effect.promise(() => chain.client.mine({ blocks: 1 }))
        const failure = yield* refusal(enrollment, chain)
        assert.strictEqual(failure._tag, "AuthorizationRequired")
        assert.include(failure.message, "expired")
      })
    )

    it.effect("an old permission is taken off the account by the first operation under the guard, and is dead", () =>
      Effect.gen(function* () {
        const { base: chain } = yield* EvmWorld
        const old = yield* enroll(307n, [[chain, "USDC", "WETH"]]).pipe(Effect.provide(patientAdapter(chain, 1)))
        assert.isUndefined(evmPolicy(old.authorization.chains[0]).guard)
        yield* fund(chain, old.account, { symbol: "USDC", raw: 1_000_000_000n })
        const before = yield* execute(yield* swapOf(old, chain, { sell: "USDC", buy: "WETH", amount: 10_000_000n }))
        assert.isTrue(before.receipt.success)
        const next = yield* enroll(307n, [[chain, "USDC", "WETH"]])
        assert.strictEqual(next.account, old.account)
        const batch = yield* swapOf(next, chain, { sell: "USDC", buy: "WETH", amount: 10_000_000n })
        const replaced = old.authorization.chains.map(({ permissionId }) => permissionId)
        const { receipt } = yield* execute({ ...batch, replaced })
        assert.isTrue(receipt.success)
        const failure = yield* refusal(old, chain)
        assert.strictEqual(failure._tag, "AuthorizationRequired")
        assert.include(failure.message, "removed the agent's permission")
        const again = yield* execute({
          ...(yield* swapOf(next, chain, { sell: "USDC", buy: "WETH", amount: 10_000_000n })),
          replaced
        })
        assert.isTrue(again.receipt.success)
      })
    )

    it.effect("the guard's word about an account is the one that was signed", () =>
      Effect.gen(function* () {
        const { base: chain } = yield* EvmWorld
        const enrollment = yield* enrolled(chain, 306n)
        yield* execute(yield* swapOf(enrollment, chain, { sell: "USDC", buy: "WETH", amount: 10_000_000n }))
        const { permissionId, policy } = enrollment.authorization.chains[0]
        const [account] = yield* Effect.promise(() =>
          chain.client.readContract({
            address: chain.contracts.guard,
            abi: tradeGuardAbi,
            functionName: "policyOf",
            args: [enrollment.account as string as Address]
          })
        )
        assert.strictEqual(hexToBigInt(account.permissionId), hexToBigInt(permissionId as Hex))
        assert.strictEqual(account.validUntil, evmPolicy({ policy }).guard?.validUntil)
        assert.strictEqual(account.issuedAt, evmPolicy({ policy }).guard?.issuedAt)
      })
    )
  })
})
