/** Swaps on the world's Solana chain: what the stand-in for Jupiter offers is what the chain then does. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type Keypair, PublicKey, TransactionInstruction } from "@solana/web3.js"
import { subAccount } from "#layers/solana/swig/addresses.ts"

import { emulateJupiter } from "#sandbox/solana/market/emulateJupiter.ts"
import { installMints, issue, rescale, tokenAccount } from "#sandbox/solana/market/issuer.ts"
import { buildSwap } from "#sandbox/solana/market/jupiterBuild.ts"
import { jupiterProgram, type RouteForm, routeForms } from "#sandbox/solana/market/jupiterRoute.ts"
import { type SplToken, splCatalog, usdc } from "#sandbox/assets/splCatalog.ts"
import { installMarket } from "#sandbox/solana/market/installMarket.ts"
import { amountIn, movePool, poolOf } from "#sandbox/solana/market/splPools.ts"
import { submit, firstSubAccount, newWalletId } from "#test/layers/solana/submit.ts"
import { fundedKey, land, lamportsOf, sol, startTestChain, type TestChain } from "#test/sandbox/solana/support.ts"

let chain: TestChain
beforeAll(async () => {
  chain = await startTestChain({ emulations: new Map([[jupiterProgram.toBase58(), emulateJupiter]]) })
  installMints(chain.ledger)
  installMarket(chain.ledger, ({ initialPriceUsd }) => initialPriceUsd)
})
afterAll(() => chain.close())

const named = (symbol: string): SplToken => splCatalog.find((token) => token.symbol === symbol)!
const heldBy = (owner: PublicKey, token: SplToken): bigint =>
  amountIn(chain.ledger.account(tokenAccount(token, owner))?.data)
const reserves = (token: SplToken): readonly [usdc: bigint, token: bigint] => [
  heldBy(poolOf(token), usdc),
  heldBy(poolOf(token), token)
]

const instructionOf = (answer: {
  readonly programId: string
  readonly accounts: ReadonlyArray<{
    readonly pubkey: string
    readonly isSigner: boolean
    readonly isWritable: boolean
  }>
  readonly data: string
}) =>
  new TransactionInstruction({
    programId: new PublicKey(answer.programId),
    keys: answer.accounts.map(({ pubkey, ...meta }) => ({ ...meta, pubkey: new PublicKey(pubkey) })),
    data: Buffer.from(answer.data, "base64")
  })

const offered = (
  { amount, from, to }: { readonly from: SplToken; readonly to: SplToken; readonly amount: bigint },
  taker: PublicKey,
  {
    form = "ownAccounts",
    wrapAndUnwrapSol = false
  }: { readonly form?: RouteForm; readonly wrapAndUnwrapSol?: boolean } = {}
) => buildSwap(chain.ledger, { from, to, amount, taker, slippageBps: 50, wrapAndUnwrapSol }, form)!

const swap = async (taker: Keypair, offer: ReturnType<typeof offered>) =>
  land(
    chain,
    [
      ...offer.setupInstructions,
      offer.swapInstruction,
      ...(offer.cleanupInstruction === null ? [] : [offer.cleanupInstruction])
    ].map(instructionOf),
    [taker]
  )

describe("Jupiter in this world", () => {
  it.each([
    ["USDC", "TSLAx"],
    ["TSLAx", "USDC"],
    ["SOL", "AAPLx"],
    ["JUP", "SOL"]
  ])(
    "a swap of %s for %s gives what was offered in each form, and no product of reserves falls",
    async (sold, bought) => {
      for (const form of routeForms) {
        const [from, to, taker] = [named(sold), named(bought), fundedKey(chain)]
        const amount = 10n ** BigInt(from.decimals)
        issue(chain.ledger, taker.publicKey, { token: from, amountRaw: amount })
        const pools = [from, to].filter((token) => token !== usdc)
        const before = pools.map(reserves)
        const offer = offered({ from, to, amount }, taker.publicKey, { form })
        assert.isNull((await swap(taker, offer)).error, form)
        assert.strictEqual(heldBy(taker.publicKey, from), 0n)
        assert.strictEqual(heldBy(taker.publicKey, to).toString(), offer.outAmount)
        for (const [index, [stable, token]] of pools.map(reserves).entries()) {
          const [stableBefore, tokenBefore] = before[index]!
          assert.isTrue(stable * token >= stableBefore * tokenBefore)
        }
      }
    }
  )

  it("SOL is paid and received as lamports where the caller does not refuse it", async () => {
    const [coin, taker] = [named("SOL"), fundedKey(chain)]
    const sale = offered({ from: coin, to: usdc, amount: sol }, taker.publicKey, { wrapAndUnwrapSol: true })
    assert.isNull((await swap(taker, sale)).error)
    assert.isBelow(Number(lamportsOf(chain, taker.publicKey)), Number(9n * sol))
    assert.isUndefined(chain.ledger.account(tokenAccount(coin, taker.publicKey)))
    const amount = BigInt(sale.outAmount)
    const purchase = offered({ from: usdc, to: coin, amount }, taker.publicKey, { wrapAndUnwrapSol: true })
    assert.isNull((await swap(taker, purchase)).error)
    assert.isAbove(Number(lamportsOf(chain, taker.publicKey)), Number(9_900_000_000n))
    assert.isUndefined(chain.ledger.account(tokenAccount(coin, taker.publicKey)))
  })

  it("states the impact of the whole amount as a fraction", () => {
    const [small, great] = [1_000_000n, 100_000_000_000n].map((amount) =>
      Number(offered({ from: usdc, to: named("JUP"), amount }, usdc.mint).priceImpactPct)
    )
    assert.isBelow(small!, 0.00001)
    // 100,000 USDC into a pool of 5,000,000 on each side.
    assert.approximately(great!, 0.0195, 0.001)
  })

  it("a small trade meets the price of the shown unit, whatever the multiplier", () => {
    for (const [multiplier, price] of [
      [1.5, 270n],
      [10, 40n]
    ] as const) {
      const apple = named("AAPLx")
      rescale(chain.ledger, apple, { multiplier, from: chain.now })
      movePool(chain.ledger, apple, price * 10n ** 18n)
      const shares = 10_000_000n
      const { outAmount } = offered({ from: apple, to: usdc, amount: shares }, usdc.mint)
      // 0.1 raw tokens are 0.1 times the multiplier in shares; a tenth of a percent for impact above the fee.
      const fair = (Number(price) * multiplier) / 10
      assert.approximately(Number(outAmount) / 1e6, fair * 0.997, fair * 0.001)
    }
  })

  it("refuses what yields less than quoted less slippage, with Jupiter's own number", async () => {
    const [jup, taker] = [named("JUP"), fundedKey(chain)]
    issue(chain.ledger, taker.publicKey, { token: usdc, amountRaw: 1_000_000n })
    const offer = offered({ from: usdc, to: jup, amount: 1_000_000n }, taker.publicKey)
    movePool(chain.ledger, jup, 10n ** 18n)
    const { error } = await swap(taker, offer)
    assert.deepStrictEqual(error, { InstructionError: [1, { Custom: 6001 }] })
    assert.strictEqual(heldBy(taker.publicKey, usdc), 1_000_000n)
    movePool(chain.ledger, jup, jup.initialPriceUsd)
  })

  it("refuses a route whose pool is another account, and one that its taker did not sign", async () => {
    const [tesla, taker, thief] = [named("TSLAx"), fundedKey(chain), fundedKey(chain)]
    issue(chain.ledger, taker.publicKey, { token: usdc, amountRaw: 1_000_000n })
    const { setupInstructions, swapInstruction } = offered(
      { from: usdc, to: tesla, amount: 1_000_000n },
      taker.publicKey
    )
    const route = instructionOf(swapInstruction)
    const foreign = new TransactionInstruction({
      ...route,
      keys: route.keys.map((meta, index) => (index === 10 ? { ...meta, pubkey: thief.publicKey } : meta))
    })
    const open = setupInstructions.map(instructionOf)
    assert.deepStrictEqual((await land(chain, [...open, foreign], [taker])).error, {
      InstructionError: [1, { Custom: 6010 }]
    })
    const unsigned = new TransactionInstruction({
      ...route,
      keys: route.keys.map((meta, index) => (index === 0 ? { ...meta, isSigner: false } : meta))
    })
    assert.deepStrictEqual((await land(chain, [unsigned], [thief])).error, {
      InstructionError: [0, { Custom: 3010 }]
    })
    assert.strictEqual(heldBy(taker.publicKey, usdc), 1_000_000n)
  })

  it("the agent swaps for a sub-account, by a checked plan of one transaction", async () => {
    const [agent, owner, id] = [fundedKey(chain), fundedKey(chain), newWalletId()]
    assert.isNull((await submit(chain, firstSubAccount(id, owner.publicKey), [agent, owner])).error)
    const account = subAccount(id, 1).address
    chain.ledger.airdrop(account, sol)
    const tesla = named("TSLAx")
    issue(chain.ledger, account, { token: usdc, amountRaw: 1_000_000_000n })
    issue(chain.ledger, account, { token: tesla, amountRaw: 1n })
    const offer = offered({ from: usdc, to: tesla, amount: 1_000_000_000n }, account)
    const route = instructionOf(offer.swapInstruction)
    const { bytes, error } = await submit(chain, [{ _tag: "ActForSubAccount", id, roleId: 1, inner: [route] }], [agent])
    assert.isNull(error)
    assert.isAtMost(bytes, 1_232)
    assert.strictEqual(heldBy(account, tesla).toString(), (BigInt(offer.outAmount) + 1n).toString())
    assert.strictEqual(heldBy(account, usdc), 0n)
  })
})
