/** Swaps for a sub-account, as Jupiter answers them in each of its forms. */
import { assert, it } from "@effect/vitest"
import { Keypair, type PublicKey, VersionedTransaction } from "@solana/web3.js"
import { Effect } from "effect"
import { spl } from "#domain/values/Caip.ts"
import { signedByAgent } from "#layers/solana/lifecycle/prepare.ts"
import { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import { readHoldings } from "#layers/solana/token/readHoldings.ts"
import { amountsOf, prepareSwap, swapResult } from "#layers/solana/trading/prepareSwap.ts"
import { issue, issueLamports, tokenAccount } from "#sandbox/solana/market/issuer.ts"
import { routeForms } from "#sandbox/solana/market/jupiterRoute.ts"
import { type SplToken, usdc } from "#sandbox/assets/splCatalog.ts"
import { amountIn, poolOf } from "#sandbox/solana/market/splPools.ts"
import { eachSwig } from "#test/layers/solana/eachSwig.ts"
import type { Built } from "#test/layers/solana/jupiterServer.ts"
import { executed, enrollSolana, fees } from "#test/layers/solana/owners.ts"
import { dollars, jup, sol, swapWorld, tesla } from "#test/layers/solana/trading/swapWorld.ts"

eachSwig("swaps", (start) => {
  const world = swapWorld(start)
  const limits = () => world.jupiter.asked.map((query) => query.get("maxAccounts"))

  it.live.each(routeForms)("a leg trades what was asked in the form %s, and balances around it say so", (form) =>
    world.run(
      Effect.gen(function* () {
        world.jupiter.form = form
        const { deposit, place } = yield* world.funded
        const trade = world.tradeOf(place)
        const prepared = yield* prepareSwap(trade)
        const { outcome } = yield* executed(world.chain, signedByAgent(world.agent, prepared))
        assert.strictEqual(outcome._tag, "Landed")
        const after = yield* readHoldings(deposit, { atLeastSlot: outcome.slot })
        const { minBuyRaw, sellRaw } = trade.leg
        const asked = { sell: spl(usdc.mint.toBase58()), buy: spl(tesla.mint.toBase58()), sellRaw, minBuyRaw }
        const result = swapResult(asked, amountsOf(prepared.before), amountsOf(after))
        assert.deepStrictEqual(result, { soldRaw: dollars, boughtRaw: prepared.expectedRaw, isAsPlanned: true })
        const more = { ...asked, minBuyRaw: prepared.expectedRaw + 1n }
        const short = swapResult(more, amountsOf(prepared.before), amountsOf(after))
        assert.isFalse(short.isAsPlanned)
      })
    )
  )

  it.live.each(routeForms)("two hops through a token that is held leave it as it was, in the form %s", (form) =>
    world.run(
      Effect.gen(function* () {
        world.jupiter.form = form
        const { deposit, place } = yield* world.funded
        issueLamports(world.chain.ledger, deposit, 1_000_000_000n)
        const leg = { sell: world.mintOf(sol), buy: world.mintOf(jup), sellRaw: 500_000_000n, minBuyRaw: 1n }
        const prepared = yield* prepareSwap({ place, leg, slippageBps: 50, agent: world.agent, fees })
        const { outcome } = yield* executed(world.chain, signedByAgent(world.agent, prepared))
        assert.strictEqual(outcome._tag, "Landed")
        const after = yield* readHoldings(deposit, { atLeastSlot: outcome.slot })
        const rawOf = (token: SplToken) => after.tokens.find(({ assetId }) => assetId === token.assetId)!.raw
        assert.deepStrictEqual([usdc, sol, jup].map(rawOf), [dollars, 500_000_000n, 9n + prepared.expectedRaw])
      })
    )
  )

  it.live("an account between two hops is opened at the agent's cost", () =>
    world.run(
      Effect.gen(function* () {
        const { deposit, place } = yield* enrollSolana(world.chain, world.agent, Keypair.generate())
        issueLamports(world.chain.ledger, deposit, 1_000_000_000n)
        const leg = { sell: world.mintOf(sol), buy: world.mintOf(jup), sellRaw: 500_000_000n, minBuyRaw: 1n }
        const prepared = yield* prepareSwap({ place, leg, slippageBps: 50, agent: world.agent, fees })
        const { outcome } = yield* executed(world.chain, signedByAgent(world.agent, prepared))
        assert.strictEqual(outcome._tag, "Landed")
        const left = world.chain.ledger.account(deposit)!.lamports
        assert.strictEqual(left, world.chain.ledger.rentOf(0) + 500_000_000n)
        assert.strictEqual(amountIn(world.chain.ledger.account(tokenAccount(usdc, deposit))!.data), 0n)
      })
    )
  )

  it.live("SOL that came as lamports is sold as it is: wrapped in the same transaction, and the rent stays", () =>
    world.run(
      Effect.gen(function* () {
        const { deposit, place } = yield* enrollSolana(world.chain, world.agent, Keypair.generate())
        const [lamports, wrapped] = [700_000_000n, 300_000_000n]
        issueLamports(world.chain.ledger, deposit, lamports)
        issue(world.chain.ledger, deposit, { token: sol, amountRaw: wrapped })
        const leg = { sell: world.mintOf(sol), buy: world.mintOf(usdc), sellRaw: 900_000_000n, minBuyRaw: 1n }
        const prepared = yield* prepareSwap({ place, leg, slippageBps: 50, agent: world.agent, fees })
        const { outcome } = yield* executed(world.chain, signedByAgent(world.agent, prepared))
        assert.strictEqual(outcome._tag, "Landed")
        const after = yield* readHoldings(deposit, { atLeastSlot: outcome.slot })
        const asked = { sell: sol.assetId, buy: usdc.assetId, sellRaw: leg.sellRaw, minBuyRaw: leg.minBuyRaw }
        const result = swapResult(asked, amountsOf(prepared.before), amountsOf(after))
        assert.deepStrictEqual(result, { soldRaw: leg.sellRaw, boughtRaw: prepared.expectedRaw, isAsPlanned: true })
        const left = after.tokens.find(({ assetId }) => assetId === sol.assetId)!
        assert.deepInclude(left, { raw: 100_000_000n, lamports: 100_000_000n })
        assert.strictEqual(world.chain.ledger.account(deposit)!.lamports, world.chain.ledger.rentOf(0) + 100_000_000n)
      })
    )
  )

  it.live("a route that does not fit is asked for again over fewer accounts, and then reported with its size", () =>
    world.run(
      Effect.gen(function* () {
        const { place } = yield* world.funded
        const widen = (built: Built, count: number) => ({
          ...built,
          swapInstruction: {
            ...built.swapInstruction,
            accounts: [
              ...built.swapInstruction.accounts,
              ...Array.from({ length: count }, () => ({
                pubkey: Keypair.generate().publicKey.toBase58(),
                isSigner: false,
                isWritable: false
              }))
            ]
          }
        })
        world.jupiter.change = (built) => (world.jupiter.asked.length === 1 ? widen(built, 60) : built)
        yield* prepareSwap(world.tradeOf(place))
        assert.deepStrictEqual(limits(), ["54", "40"])
        world.jupiter.asked = []
        world.jupiter.change = (built) => widen(built, 60)
        const refused = yield* Effect.flip(prepareSwap(world.tradeOf(place)))
        assert.strictEqual(refused._tag, "TransactionDoesNotFit")
        assert.match(refused.message, /1232|fewer accounts/)
        assert.deepStrictEqual(limits(), ["54", "40", "26", "14"])
      })
    )
  )

  it.live("others' bids for what a lookup table names count for the price", () =>
    world.run(
      Effect.gen(function* () {
        const { place } = yield* world.funded
        const rpc = yield* SolanaRpc
        const asked: Array<string> = []
        const bid = (keys: ReadonlyArray<PublicKey>) =>
          Effect.sync(() => {
            asked.push(...keys.map((key) => key.toBase58()))
            return [1_000n]
          })
        const prepared = yield* prepareSwap(world.tradeOf(place)).pipe(
          Effect.provideService(SolanaRpc, { ...rpc, recentFees: bid })
        )
        const { message } = VersionedTransaction.deserialize(
          Buffer.concat([Uint8Array.of(1), new Uint8Array(64), prepared.message])
        )
        assert.isAbove(message.addressTableLookups.length, 0)
        assert.include(asked, tokenAccount(usdc, poolOf(tesla)).toBase58())
        assert.notInclude(asked, tesla.mint.toBase58())
        const [limit] = prepared.plan.steps
        const units = limit?._tag === "LimitUnits" ? BigInt(limit.units) : 0n
        assert.strictEqual(prepared.feeLamports, 5_000n + (units * 1_000n + 999_999n) / 1_000_000n)
      })
    )
  )
})
