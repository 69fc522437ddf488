/** The way out of docs/solana.md by one command: every portfolio of a wallet, without the service and its agent. */
import { afterAll, assert, beforeAll, it } from "@effect/vitest"
import { Keypair, type PublicKey } from "@solana/web3.js"
import { Effect } from "effect"
import { leave } from "#layers/solana/withdrawal/leave.ts"
import { type SplToken, splCatalog, usdc } from "#sandbox/assets/splCatalog.ts"
import { installMints, issue, issueLamports, pause, resume, tokenAccount } from "#sandbox/solana/market/issuer.ts"
import { amountIn } from "#sandbox/solana/market/splPools.ts"
import { eachSwig } from "#test/layers/solana/eachSwig.ts"
import { enrollSolana, fees, newAgent, onChain, whileBlocksPass } from "#test/layers/solana/owners.ts"
import { sol, type TestChain } from "#test/sandbox/solana/support.ts"

const named = (symbol: string) => splCatalog.find((token) => token.symbol === symbol)!
const [tesla, coin] = [named("TSLAx"), named("SOL")]

eachSwig("an owner who leaves", (start) => {
  let chain: TestChain
  beforeAll(async () => {
    chain = await start()
    installMints(chain.ledger)
  })
  afterAll(() => chain.close())

  const held = (owner: PublicKey, token: SplToken) => amountIn(chain.ledger.account(tokenAccount(token, owner))?.data)
  const leaves = (wallet: PublicKey, owner: Keypair) =>
    whileBlocksPass(chain)(onChain(chain)(leave({ wallet, owner, fees })))

  it.live("takes SOL, dollars and a tokenized share out of all portfolios, and what is paused at the next try", () =>
    Effect.gen(function* () {
      const [agent, owner] = [newAgent(chain), Keypair.generate()]
      chain.ledger.airdrop(owner.publicKey, sol)
      const first = yield* onChain(chain)(enrollSolana(chain, agent, owner))
      const second = yield* onChain(chain)(enrollSolana(chain, agent, owner))
      for (const { deposit } of [first, second]) {
        issue(chain.ledger, deposit, { token: usdc, amountRaw: 5n })
        issueLamports(chain.ledger, deposit, 700n)
        issue(chain.ledger, deposit, { token: coin, amountRaw: 300n })
      }
      issue(chain.ledger, second.deposit, { token: tesla, amountRaw: 12n })
      // A stranger's token account of the owner's, which costs the owner nothing.
      const stranger = {
        ...chain.ledger.account(tokenAccount(usdc, second.deposit))!,
        key: Keypair.generate().publicKey
      }
      chain.ledger.setAccount(stranger)
      pause(chain.ledger, tesla)
      const [one, two] = yield* leaves(first.wallet, owner)
      assert.deepStrictEqual([one!.deposit, two!.deposit], [first.deposit.toBase58(), second.deposit.toBase58()])
      assert.sameMembers([...one!.taken], [usdc.assetId, coin.assetId])
      assert.deepStrictEqual(two!.stayed, [[tesla.assetId, "PAUSED, PERMANENT_DELEGATE"]])
      assert.deepStrictEqual([held(owner.publicKey, usdc), held(first.deposit, usdc)], [15n, 0n])
      for (const { deposit } of [first, second]) {
        const left = chain.ledger.account(deposit)!.lamports
        assert.strictEqual(left, chain.ledger.rentOf(0) + chain.ledger.rentOf(165))
      }
      resume(chain.ledger, tesla)
      const again = yield* leaves(first.wallet, owner)
      assert.include(again[1]!.taken, tesla.assetId)
      assert.strictEqual(held(owner.publicKey, tesla), 12n)
    })
  )

  it.live("is told where the wallet is none, or is somebody else's", () =>
    Effect.gen(function* () {
      const [agent, owner, other] = [newAgent(chain), Keypair.generate(), Keypair.generate()]
      chain.ledger.airdrop(other.publicKey, sol)
      const { deposit, wallet } = yield* onChain(chain)(enrollSolana(chain, agent, owner))
      assert.match((yield* Effect.flip(leaves(deposit, owner))).message, /is no Swig wallet/)
      const refused = yield* Effect.flip(leaves(wallet, other))
      assert.match(refused.message, /cannot be put into role 1/)
    })
  )
})
