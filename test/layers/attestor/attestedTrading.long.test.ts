/**
 * Tokens without a feed on real chains: what the attestor signs, what the service takes of it, and what the guard does.
 */
import { assert, describe, layer } from "@effect/vitest"
import { DateTime, Effect, Layer, Redacted } from "effect"
import { FetchHttpClient } from "effect/http"
import { BaseError, encodeFunctionData, type Hex, keccak256, toHex } from "viem"
import { sign } from "viem/accounts"
import { addressOf, type AssetId, type EvmAddress } from "#domain/values/Caip.ts"
import { refusalOf } from "#domain/attestation/judgePrice.ts"
import { type AttestationRequest, PriceAttestor, type SignedPrice } from "#domain/attestation/PriceAttestor.ts"
import * as Decimal from "#domain/values/Decimal.ts"
import { Prices, PricesUnavailable } from "#domain/market/Prices.ts"
import { AttestorSigners, type Signer } from "#domain/relay/Signer.ts"
import { SwapBatches } from "#domain/trading/SwapBatches.ts"
import { AttestedGuards } from "#layers/attestor/AttestorConfig.ts"
import { OwnAttestor } from "#layers/attestor/OwnAttestor.ts"
import { priceDigest } from "#layers/evm/attestation/priceDigest.ts"
import { readAttested } from "#layers/evm/attestation/readAttested.ts"
import { EvmClients } from "#layers/evm/rpc/EvmClients.ts"
import { EvmConfig } from "#layers/evm/EvmConfig.ts"
import { remoteSigner } from "#layers/evm/signer/remoteSigner.ts"
import { tradeGuardAbi } from "#layers/evm/tradeGuard.ts"
import { PriceCheck } from "#layers/market/PriceCheck.ts"
import type { Chain } from "#sandbox/chain/Chain.ts"
import {
  asset,
  attestedWorld,
  attestor,
  batchOf,
  chainIdOf,
  enroll,
  EvmWorld,
  execute,
  fund,
  quotedSwap,
  token
} from "#test/layers/evm/EvmWorld.ts"
import { dollars } from "#test/layers/evm/tradingAccount.ts"
import { signerServer } from "#test/support/signerServer.ts"

const key = keccak256(toHex("ballast test attestor"))
const otherKey = keccak256(toHex("ballast test somebody"))

/** What the two sources say of a token; what becomes of the attestor's answer on its way; the key's own service. */
const state = {
  first: (assetId: AssetId): number | undefined => initial[assetId],
  second: (assetId: AssetId): number | undefined => initial[assetId],
  ageSeconds: 0,
  isDown: false,
  signer: undefined as Signer | undefined,
  forge: undefined as ((price: SignedPrice, request: AttestationRequest) => Promise<SignedPrice>) | undefined
}
const initial: Record<string, number> = {}
const honest = { ...state }
const reset = Effect.sync(() => Object.assign(state, honest))

const localKey: Signer = {
  address: attestor.address as string as EvmAddress,
  sign: (digest) => Effect.promise(() => sign({ hash: digest as Hex, privateKey: key, to: "hex" }))
}

/** Key of an exchange that no guard has carried out yet: nothing may be signed with it. */
const nextKey: Signer = {
  address: "0x0000000000000000000000000000000000000bad" as EvmAddress,
  sign: () => Effect.die(new Error("The next key signed"))
}

const sources = Layer.mergeAll(
  Layer.succeed(Prices, {
    latest: Effect.fnUntraced(function* (assetIds: ReadonlyArray<AssetId>) {
      if (state.isDown) return yield* new PricesUnavailable({ reason: "down" })
      const asOf = DateTime.subtract(yield* DateTime.now, { seconds: state.ageSeconds })
      return new Map(
        assetIds.flatMap((id) => {
          const price = state.first(id)
          return price === undefined ? [] : [[id, { usd: Decimal.fromNumber(price)!, asOf, source: "one" }] as const]
        })
      )
    })
  }),
  Layer.succeed(PriceCheck, {
    source: "two",
    toleranceBps: 200,
    priceOf: (id) =>
      Effect.sync(() => {
        const price = state.second(id)
        return price === undefined ? undefined : Decimal.fromNumber(price)
      })
  }),
  Layer.succeed(AttestorSigners, {
    keys: [
      nextKey,
      { address: localKey.address, sign: (digest, context) => (state.signer ?? localKey).sign(digest, context) }
    ]
  })
)

const guards = Layer.effect(
  AttestedGuards,
  Effect.map(EvmConfig, ({ chains }) => new Map(chains.map(({ chainId, guard }) => [chainId, [guard!]])))
)

/** The real attestor, and somebody between it and the service. */
const attestors = Layer.effect(
  PriceAttestor,
  Effect.map(PriceAttestor, ({ attest }) =>
    PriceAttestor.of({
      attest: (request) =>
        Effect.flatMap(attest(request), ({ refused, signed }) =>
          Effect.map(
            Effect.forEach(signed, (price) =>
              Effect.promise(async () => (state.forge === undefined ? price : state.forge(price, request)))
            ),
            (forged) => ({ signed: forged, refused })
          )
        )
    })
  )
).pipe(Layer.provide(OwnAttestor), Layer.provide([sources, guards, EvmClients.layer]))

const setUp = Effect.gen(function* () {
  const { arbitrum, base } = yield* EvmWorld
  initial[asset(base, "SEAM")] = 1.5
  initial[asset(arbitrum, "GRAIL")] = 400
  yield* reset
  return { arbitrum, base }
})

const enrolled = Effect.fnUntraced(function* (chain: Chain, index: bigint) {
  const enrollment = yield* enroll(index, [[chain, "USDC", "WETH"]])
  yield* fund(chain, enrollment.account, { symbol: "USDC", raw: dollars(1_000n) })
  return enrollment
})

type Enrolled = Effect.Success<ReturnType<typeof enrolled>>

const swapOf = (
  enrollment: Enrolled,
  chain: Chain,
  { amount = dollars(100n), buy }: { readonly buy: string; readonly amount?: bigint | undefined }
) =>
  Effect.map(quotedSwap(chain, { sell: "USDC", buy, sellAmountRaw: amount }), (swap) =>
    batchOf(enrollment, chain, [swap])
  )

/** Why the swap into the attested token is refused before anything is signed. */
const refusal = Effect.fnUntraced(function* (enrollment: Enrolled, chain: Chain, symbol: string) {
  const { prepare } = yield* SwapBatches
  const failure = yield* Effect.flip(prepare(yield* swapOf(enrollment, chain, { buy: symbol })))
  assert.strictEqual(failure._tag, "SimulationFailed")
  const [found, ...others] = (failure._tag === "SimulationFailed" && failure.unattested) || []
  assert.isEmpty(others)
  assert.strictEqual(found?.assetId, asset(chain, symbol))
  return found?.reason ?? ""
})

const domainOf = (chain: Chain) => ({
  chainId: chainIdOf(chain),
  guard: chain.contracts.guard as string as EvmAddress
})

const signedFor = async (chain: Chain, price: Omit<SignedPrice, "signature">, privateKey = key) => ({
  ...price,
  signature: await sign({ hash: priceDigest(domainOf(chain), price), privateKey, to: "hex" })
})

/** What the guard itself says of a price, asked without a trade by somebody who holds something. */
const guardsVerdict = (chain: Chain, from: EvmAddress, { price, signature, time }: SignedPrice) =>
  Effect.promise(async () => {
    const data = encodeFunctionData({
      abi: tradeGuardAbi,
      functionName: "trade",
      args: [
        [token(chain, "SEAM") as string as Hex, token(chain, "USDC") as string as Hex].toSorted((a, b) =>
          BigInt(a) < BigInt(b) ? -1 : 1
        ),
        [],
        { prices: [{ price, time, signature: signature as Hex }], proofs: [] },
        10n ** 12n
      ]
    })
    return chain.client.call({ account: from as string as Hex, to: chain.contracts.guard, data }).then(
      () => undefined,
      (error: unknown) => {
        const cause = error instanceof BaseError ? error.walk((one) => "data" in (one as object)) : undefined
        const raw = (cause as { data?: Hex | { data?: Hex } } | null)?.data
        return (typeof raw === "object" ? raw.data : raw)?.slice(0, 10)
      }
    )
  })

describe("tokens that an attestor prices", () => {
  layer(attestedWorld(attestors), { excludeTestServices: true })((it) => {
    it.effect(
      "are bought and sold on both chains, under prices of two sources; a later swap costs at most 360,000 gas",
      () =>
        Effect.gen(function* () {
          const { arbitrum, base } = yield* setUp
          for (const [chain, symbol, index] of [
            [base, "SEAM", 401n],
            [arbitrum, "GRAIL", 402n]
          ] as const) {
            const enrollment = yield* enrolled(chain, index)
            const first = yield* execute(yield* swapOf(enrollment, chain, { buy: symbol }))
            assert.isTrue(first.receipt.success)
            // A pool keeps its average price once a second, and its first entry ever costs more: what counts comes
            // later.
            yield* Effect.sleep("1100 millis")
            yield* execute(yield* swapOf(enrollment, chain, { buy: symbol }))
            yield* Effect.sleep("1100 millis")
            const later = yield* execute(yield* swapOf(enrollment, chain, { buy: symbol }))
            const { gasUsed } = yield* Effect.promise(() =>
              chain.client.getTransactionReceipt({ hash: later.signed.txHash as Hex })
            )
            assert.isAtMost(Number(gasUsed), 360_000)
            const sold = yield* execute(
              batchOf(enrollment, chain, [
                yield* quotedSwap(chain, { sell: symbol, buy: "USDC", sellAmountRaw: 100_000_000_000_000_000n })
              ])
            )
            assert.isTrue(sold.receipt.success)
          }
        })
    )

    it.effect(
      "are not signed for when a source is silent, the two disagree, or a price is old or beyond the step",
      () =>
        Effect.gen(function* () {
          const { base } = yield* setUp
          const enrollment = yield* enrolled(base, 403n)
          // The second source's answers are cached for ten seconds, to agree and not to disagree.
          yield* Effect.sleep("10100 millis")
          const cases = [
            [{ second: () => 1.6 }, /SOURCES_DISAGREE.*one says 1\.5\d* USD, two 1\.6\d* USD.*200 basis points/u],
            [{ second: () => undefined }, /SOURCE_MISSING.*two gives no price/u],
            [{ first: () => undefined }, /SOURCE_MISSING.*gives no price/u],
            [{ isDown: true }, /SOURCE_MISSING.*down/u],
            [{ ageSeconds: 2_000 }, /STALE.*1\d{3} s old, the chain takes 300 s/u],
            [{ first: () => 1.7, second: () => 1.7 }, /BEYOND_STEP.*1333 basis points.*the chain takes 500/u]
          ] as const
          for (const [change, expected] of cases) {
            yield* reset
            Object.assign(state, change)
            assert.match(yield* refusal(enrollment, base, "SEAM"), expected)
          }
        })
    )

    it.effect(
      "are refused on a signed price that is not the attestor's for this guard, chain and token, before anything is sent",
      () =>
        Effect.gen(function* () {
          const { arbitrum, base } = yield* setUp
          const enrollment = yield* enrolled(base, 404n)
          const forgeries: ReadonlyArray<readonly [string, typeof state.forge, RegExp]> = [
            ["another chain and guard", (price) => signedFor(arbitrum, price), /INVALID.*signed by/u],
            ["another key", (price) => signedFor(base, price, otherKey), /INVALID.*signed by/u],
            [
              "another token",
              async (price) => ({
                ...(await signedFor(base, { ...price, token: token(base, "AERO") })),
                token: price.token
              }),
              /INVALID.*signed by/u
            ],
            ["another price", async (price) => ({ ...price, price: price.price + 1n }), /INVALID.*signed by/u],
            ["nobody", async (price) => ({ ...price, signature: `0x${"11".repeat(65)}` }), /INVALID/u],
            [
              "no answer for it",
              async (price) => ({ ...price, token: token(base, "AERO") }),
              /INVALID.*leaves it out/u
            ],
            ["the past", (price) => signedFor(base, { ...price, time: price.time - 700 }), /STALE/u],
            ["the future", (price) => signedFor(base, { ...price, time: price.time + 3_600 }), /STALE.*after/u],
            [
              "a lie with the true key",
              (price) => signedFor(base, { ...price, price: price.price * 2n }),
              /BEYOND_STEP/u
            ]
          ]
          for (const [what, forge, expected] of forgeries) {
            state.forge = forge
            assert.match(yield* refusal(enrollment, base, "SEAM"), expected, what)
          }
          yield* reset
          const { receipt } = yield* execute(yield* swapOf(enrollment, base, { buy: "SEAM" }))
          assert.isTrue(receipt.success)
        })
    )

    it.effect("the service judges a price as the guard does", () =>
      Effect.gen(function* () {
        const { base } = yield* setUp
        const { account } = yield* enrolled(base, 405n)
        const read = readAttested(domainOf(base), [token(base, "SEAM")])
        const clients = EvmClients.reading([{ chainId: chainIdOf(base), rpcUrls: [base.rpcUrl] }])
        const selectors: Record<string, string> = {
          [toHex(keccak256(toHex("StalePrice(address,uint256)"), "bytes").slice(0, 4))]: "STALE",
          [toHex(keccak256(toHex("StepTooLarge(address,uint256,uint256)"), "bytes").slice(0, 4))]: "BEYOND_STEP"
        }
        let taken = 0
        for (const days of [0, 1, 2, 7]) {
          if (days > 0) {
            yield* Effect.promise(() => base.client.increaseTime({ seconds: days * 86_400 }))
            yield* Effect.promise(() => base.client.mine({ blocks: 1 }))
          }
          const { now, tokens } = yield* Effect.provide(read, clients)
          const known = tokens.get(token(base, "SEAM"))!
          for (const bps of [-2501n, -2500n, -1000n, -501n, -500n, 0n, 500n, 501n, 1000n, 1500n, 2500n, 2501n]) {
            for (const age of [-30, 0, 200, 400]) {
              const price = (known.anchor.price * (10_000n + bps)) / 10_000n
              const signed = yield* Effect.promise(() =>
                signedFor(base, { token: token(base, "SEAM"), price, time: now - age })
              )
              const verdict = yield* guardsVerdict(base, account, signed)
              const mine = refusalOf(known, signed, now)?.code
              // Feeds keep their silence while days pass, so a price that is taken may fail at the next token.
              const theirs = verdict === undefined ? undefined : (selectors[verdict] ?? verdict)
              assert.strictEqual(theirs, mine, `${days} days, ${bps} bps, ${age} s`)
              if (mine === undefined) taken += 1
            }
          }
        }
        assert.isAbove(taken, 20)
      })
    )

    it.effect("a remote signer that keeps the key gets the price that it signs, and its refusal skips the token", () =>
      Effect.gen(function* () {
        const { arbitrum } = yield* setUp
        const enrollment = yield* enrolled(arbitrum, 406n)
        const server = yield* signerServer({ key, keyId: "attestor", token: "token-of-the-signer-0123456789" })
        const signer = yield* Effect.provide(
          remoteSigner({
            kind: "remote",
            url: server.url,
            keyId: "attestor",
            token: Redacted.make("token-of-the-signer-0123456789"),
            address: localKey.address
          }),
          FetchHttpClient.layer
        )
        state.signer = signer
        const { receipt } = yield* execute(yield* swapOf(enrollment, arbitrum, { buy: "GRAIL" }))
        assert.isTrue(receipt.success)
        const { context } = server.requests[0]!
        assert.strictEqual(context.kind, "price")
        if (context.kind !== "price") return
        assert.strictEqual(context.token, addressOf(asset(arbitrum, "GRAIL")) as string as Hex)
        assert.strictEqual(context.price, `${400n * Decimal.one}`)
        server.answer = () => ({ status: 403, body: JSON.stringify({ reason: "not today" }) })
        assert.match(yield* refusal(enrollment, arbitrum, "GRAIL"), /NOT_SIGNED.*not today/u)
        yield* reset
      })
    )
  })
})
