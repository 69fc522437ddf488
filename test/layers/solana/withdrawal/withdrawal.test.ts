/** Owners take assets out by their signature; no other signature moves anything, and one moves it once. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Keypair, PublicKey } from "@solana/web3.js"
import { Effect } from "effect"
import * as Base58 from "#domain/values/Base58.ts"
import { type AccountId, solanaAccount, spl } from "#domain/values/Caip.ts"
import type { WithdrawalMessage } from "#domain/account/WithdrawalMessage.ts"
import type { PortfolioId } from "#domain/values/Ids.ts"
import { withdrawalText } from "#domain/withdrawal/withdrawalText.ts"
import * as Ed25519 from "#layers/solana/ed25519.ts"
import type { WalletOwner } from "#layers/solana/enrollment/findWallet.ts"
import type { WalletSubAccount } from "#layers/solana/enrollment/Flow.ts"
import { executeAttempts } from "#layers/solana/lifecycle/executeAttempts.ts"
import { signedByAgent } from "#layers/solana/lifecycle/prepare.ts"
import type { SolanaRpc } from "#layers/solana/rpc/SolanaRpc.ts"
import { solanaTerms } from "#layers/solana/solanaTerms.ts"
import { prepareWithdrawal } from "#layers/solana/withdrawal/prepareWithdrawal.ts"
import { installMints, issue, issueLamports, pause, resume, tokenAccount } from "#sandbox/solana/market/issuer.ts"
import { type SplToken, splCatalog, usdc } from "#sandbox/assets/splCatalog.ts"
import { amountIn } from "#sandbox/solana/market/splPools.ts"
import { eachSwig } from "#test/layers/solana/eachSwig.ts"
import { newJournal } from "#test/layers/solana/lifecycle/journal.ts"
import {
  executed,
  enrollEvm,
  enrollSolana,
  fees,
  newAgent,
  newEvmWallet,
  onChain,
  timing,
  whileBlocksPass
} from "#test/layers/solana/owners.ts"
import type { TestChain } from "#test/sandbox/solana/support.ts"

const tesla = splCatalog.find(({ symbol }) => symbol === "TSLAx")!
const sol = splCatalog.find(({ symbol }) => symbol === "SOL")!
const expiresAt = 4_000_000_000
const title = "Ballast Withdrawal Authorization"
const { landingSeconds, maxWithdrawnAssets } = solanaTerms

eachSwig("withdrawals", (start) => {
  let chain: TestChain
  let agent: ReturnType<typeof newAgent>
  beforeAll(async () => {
    chain = await start()
    agent = newAgent(chain)
    installMints(chain.ledger)
  })
  afterAll(() => chain.close())
  const run = <A, E>(effect: Effect.Effect<A, E, SolanaRpc>) => Effect.suspend(() => onChain(chain)(effect))
  const held = (owner: PublicKey, token: SplToken) => amountIn(chain.ledger.account(tokenAccount(token, owner))?.data)

  const messageOf = (to: PublicKey, change: Partial<WithdrawalMessage> = {}): WithdrawalMessage => ({
    portfolioId: "pf_7Yq3mN" as PortfolioId,
    recipientAccountId: solanaAccount(to.toBase58()),
    assets: [
      { assetId: usdc.assetId, amountRaw: "40" },
      { assetId: tesla.assetId, amountRaw: "7" }
    ],
    nonce: `0x${"5a".repeat(32)}`,
    expiresAt,
    ...change
  })
  const signedBy = (key: Keypair, message: WithdrawalMessage, firstLine = title) =>
    Base58.encode(
      Ed25519.sign(key.secretKey.slice(0, 32), new TextEncoder().encode(withdrawalText(firstLine, message)))
    )
  const prepared = (
    { owner, place }: { readonly place: WalletSubAccount; readonly owner: WalletOwner },
    message: WithdrawalMessage,
    signature: string
  ) => prepareWithdrawal({ message, signature, owner, place, title, agent, fees })
  const funded = Effect.gen(function* () {
    const key = Keypair.generate()
    const { deposit, place } = yield* enrollSolana(chain, agent, key)
    issue(chain.ledger, deposit, { token: usdc, amountRaw: 100n })
    issue(chain.ledger, deposit, { token: tesla, amountRaw: 7n })
    return { key, deposit, place, owner: { _tag: "Solana" as const, key: key.publicKey } }
  })

  describe("by the owner's signature", () => {
    it.live("all assets leave together, to accounts that are made where there are none", () =>
      run(
        Effect.gen(function* () {
          const { deposit, key, owner, place } = yield* funded
          const to = Keypair.generate().publicKey
          const message = messageOf(to)
          const made = prepared({ place, owner }, message, signedBy(key, message))
          const { outcome } = yield* executed(
            chain,
            Effect.flatMap(made, (one) => signedByAgent(agent, one))
          )
          assert.strictEqual(outcome._tag, "Landed")
          assert.deepStrictEqual([held(to, usdc), held(to, tesla)], [40n, 7n])
          assert.deepStrictEqual([held(deposit, usdc), held(deposit, tesla)], [60n, 0n])
        })
      )
    )

    it.live("SOL leaves as lamports, what is wrapped among it too, and the rent stays", () =>
      run(
        Effect.gen(function* () {
          const { deposit, key, owner, place } = yield* funded
          issueLamports(chain.ledger, deposit, 700_000_000n)
          issue(chain.ledger, deposit, { token: sol, amountRaw: 300_000_000n })
          const to = Keypair.generate().publicKey
          const take = (amountRaw: string) => {
            const message = messageOf(to, { assets: [{ assetId: sol.assetId, amountRaw }] })
            return prepared({ place, owner }, message, signedBy(key, message))
          }
          const lamportsOf = (key: PublicKey) => chain.ledger.account(key)?.lamports ?? 0n
          assert.deepInclude(yield* Effect.flip(take("1000000001")), { _tag: "WithdrawalRefused", kind: "balance" })
          assert.deepInclude(yield* Effect.flip(take("890879")), { _tag: "WithdrawalRefused", kind: "recipient" })
          const submit = (amountRaw: string) =>
            executed(
              chain,
              Effect.flatMap(take(amountRaw), (one) => signedByAgent(agent, one))
            )
          yield* submit("600000000")
          assert.strictEqual(lamportsOf(to), 600_000_000n)
          assert.strictEqual(held(deposit, sol), 300_000_000n)
          yield* submit("350000000")
          assert.strictEqual(lamportsOf(to), 950_000_000n)
          assert.isUndefined(chain.ledger.account(tokenAccount(sol, to)))
          assert.isUndefined(chain.ledger.account(tokenAccount(sol, deposit)))
          const [rent, rentOfTokens] = [chain.ledger.rentOf(0), chain.ledger.rentOf(165)]
          assert.strictEqual(lamportsOf(deposit), rent + rentOfTokens + 50_000_000n)
        })
      )
    )

    it.live(`${maxWithdrawnAssets} assets leave in one transaction where one of them is SOL to be unwrapped`, () =>
      run(
        Effect.gen(function* () {
          const { deposit, key, owner, place } = yield* funded
          issueLamports(chain.ledger, deposit, 700n)
          issue(chain.ledger, deposit, { token: sol, amountRaw: 2_000_000n })
          const others = splCatalog.filter((token) => token !== sol)
          for (const token of others) issue(chain.ledger, deposit, { token: token, amountRaw: 1_000n })
          const to = Keypair.generate().publicKey
          const amountOf = (token: SplToken) => (token === sol ? 1_000_000n : 5n)
          const assets = [sol, ...others].map((token) => ({
            assetId: token.assetId,
            amountRaw: amountOf(token).toString()
          }))
          assert.lengthOf(assets, maxWithdrawnAssets)
          const message = messageOf(to, { assets })
          yield* executed(
            chain,
            Effect.flatMap(prepared({ place, owner }, message, signedBy(key, message)), (one) =>
              signedByAgent(agent, one)
            )
          )
          for (const token of others) assert.strictEqual(held(to, token), 5n)
          assert.strictEqual(chain.ledger.account(to)!.lamports, 1_000_000n)
        })
      )
    )

    it.live("of an EVM owner a personal signature over the same text is taken", () =>
      run(
        Effect.gen(function* () {
          const [wallet, thief] = [newEvmWallet(), newEvmWallet()]
          const { deposit, place } = yield* enrollEvm(chain, agent, wallet)
          issue(chain.ledger, deposit, { token: usdc, amountRaw: 40n })
          const to = Keypair.generate().publicKey
          const message = messageOf(to, { assets: [{ assetId: usdc.assetId, amountRaw: "40" }] })
          const owner = { _tag: "Evm", address: wallet.address } as const
          const text = withdrawalText(title, message)
          const stolen = yield* Effect.promise(() => thief.sign(text))
          const refused = yield* Effect.flip(prepared({ place, owner }, message, stolen))
          assert.deepInclude(refused, { _tag: "WithdrawalRefused", kind: "signature" })
          const signature = yield* Effect.promise(() => wallet.sign(text))
          const made = prepared({ place, owner }, message, signature)
          yield* executed(
            chain,
            Effect.flatMap(made, (one) => signedByAgent(agent, one))
          )
          assert.strictEqual(held(to, usdc), 40n)
        })
      )
    )

    it.live(
      `${maxWithdrawnAssets} assets of both token programs leave in one transaction, and one more does not fit`,
      () =>
        run(
          Effect.gen(function* () {
            const { deposit, key, owner, place } = yield* funded
            const another = () => {
              const { publicKey: mint } = Keypair.generate()
              return { ...tesla, mint, assetId: spl(mint.toBase58()) }
            }
            // SOL takes fewer accounts than a token.
            const tokens = [...splCatalog.filter((token) => token !== sol), another(), another()]
            installMints(chain.ledger, tokens)
            assert.lengthOf(tokens, maxWithdrawnAssets + 1)
            for (const token of tokens) issue(chain.ledger, deposit, { token, amountRaw: 1_000n })
            const to = Keypair.generate().publicKey
            const some = (count: number) =>
              messageOf(to, { assets: tokens.slice(0, count).map(({ assetId }) => ({ assetId, amountRaw: "5" })) })
            const [fits, more] = [some(maxWithdrawnAssets), some(maxWithdrawnAssets + 1)]
            const refused = yield* Effect.flip(prepared({ place, owner }, more, signedBy(key, more)))
            assert.strictEqual(refused._tag, "TransactionDoesNotFit")
            yield* executed(
              chain,
              Effect.flatMap(prepared({ place, owner }, fits, signedBy(key, fits)), (one) => signedByAgent(agent, one))
            )
            for (const token of tokens.slice(0, maxWithdrawnAssets)) assert.strictEqual(held(to, token), 5n)
          })
        )
    )

    it.live("one word moves the assets once, however often it is carried out", () =>
      run(
        Effect.gen(function* () {
          const { deposit, key, owner, place } = yield* funded
          const to = Keypair.generate().publicKey
          const message = messageOf(to, { assets: [{ assetId: usdc.assetId, amountRaw: "10" }] })
          const journal = newJournal()
          const make = Effect.flatMap(prepared({ place, owner }, message, signedBy(key, message)), (one) =>
            signedByAgent(agent, one)
          )
          for (let time = 0; time < 3; time++) yield* whileBlocksPass(chain)(executeAttempts(journal, make, timing))
          assert.deepStrictEqual([held(to, usdc), held(deposit, usdc)], [10n, 90n])
        })
      )
    )
  })

  describe("nothing is prepared", () => {
    it.live("for a signature over anything else, or of anybody else", () =>
      run(
        Effect.gen(function* () {
          const { key, owner, place } = yield* funded
          const message = messageOf(Keypair.generate().publicKey)
          const good = signedBy(key, message)
          const words: ReadonlyArray<readonly [WithdrawalMessage, string]> = [
            [message, signedBy(Keypair.generate(), message)],
            [message, signedBy(key, message, "Other Withdrawal Authorization")],
            [messageOf(Keypair.generate().publicKey), good],
            [{ ...message, assets: message.assets.toReversed() }, good],
            [{ ...message, assets: [{ assetId: usdc.assetId, amountRaw: "41" }, message.assets[1]!] }, good],
            [{ ...message, expiresAt: expiresAt + 1 }, good],
            [{ ...message, nonce: `0x${"5b".repeat(32)}` }, good],
            [{ ...message, portfolioId: "pf_other" as PortfolioId }, good],
            [{ ...message, assets: [{ assetId: usdc.assetId, amountRaw: "all" }] }, good],
            [message, ""],
            [message, "0x00"],
            [message, "1".repeat(10_000)]
          ]
          for (const [changed, signature] of words) {
            const refused = yield* Effect.flip(prepared({ place, owner }, changed, signature))
            assert.deepInclude(refused, { _tag: "WithdrawalRefused", kind: "signature" })
          }
        })
      )
    )

    it.live("after its expiry, beyond what is held, twice for an asset, to itself, or of what cannot move", () =>
      run(
        Effect.gen(function* () {
          const { deposit, key, owner, place } = yield* funded
          const to = Keypair.generate().publicKey
          const [dollars, shares] = messageOf(to).assets
          const kindOf = (message: WithdrawalMessage) =>
            Effect.map(Effect.flip(prepared({ place, owner }, message, signedBy(key, message))), (refused) =>
              refused._tag === "WithdrawalRefused" ? refused.kind : refused._tag
            )
          assert.strictEqual(yield* kindOf(messageOf(to, { expiresAt: 1 })), "expired")
          const soon = Math.floor(Date.now() / 1_000) + landingSeconds - 10
          assert.strictEqual(yield* kindOf(messageOf(to, { expiresAt: soon })), "expired")
          assert.strictEqual(yield* kindOf(messageOf(deposit)), "recipient")
          assert.strictEqual(
            yield* kindOf(messageOf(to, { recipientAccountId: "eip155:1:0x00" as AccountId })),
            "recipient"
          )
          assert.strictEqual(yield* kindOf(messageOf(tokenAccount(usdc, deposit))), "recipient")
          const [nobody] = PublicKey.findProgramAddressSync([to.toBytes()], tesla.program)
          assert.strictEqual(yield* kindOf(messageOf(nobody)), "recipient")
          assert.strictEqual(yield* kindOf(messageOf(to, { assets: [dollars!, dollars!] })), "duplicate")
          const much = { ...dollars!, amountRaw: "101" }
          assert.strictEqual(yield* kindOf(messageOf(to, { assets: [much] })), "balance")
          pause(chain.ledger, tesla)
          assert.strictEqual(yield* kindOf(messageOf(to, { assets: [shares!] })), "untransferable")
          resume(chain.ledger, tesla)
        })
      )
    )

    it("the text is the lines that were agreed", () => {
      const recipientAccountId = "solana:x:y" as AccountId
      const text = withdrawalText(title, messageOf(new Keypair().publicKey, { recipientAccountId }))
      assert.strictEqual(
        text,
        [
          "Ballast Withdrawal Authorization",
          "portfolioId: pf_7Yq3mN",
          "recipientAccountId: solana:x:y",
          `${usdc.assetId} 40`,
          `${tesla.assetId} 7`,
          `nonce: 0x${"5a".repeat(32)}`,
          "expiresAt: 4000000000"
        ].join("\n")
      )
    })
  })
})
