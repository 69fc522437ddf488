/** The world's tokens on Solana, by the programs that own them and the packages that read them. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import {
  createTransferCheckedInstruction,
  getAccount,
  getMint,
  getPausableConfig,
  getPermanentDelegate,
  getScaledUiAmountConfig,
  NATIVE_MINT
} from "@solana/spl-token"
import { Keypair } from "@solana/web3.js"
import { installMints, issue, issuer, pause, rescale, resume, tokenAccount } from "#sandbox/solana/market/issuer.ts"
import { splCatalog, splTokenOf, usdc } from "#sandbox/assets/splCatalog.ts"
import { fundedKey, land, startTestChain, type TestChain } from "#test/sandbox/solana/support.ts"

let chain: TestChain
beforeAll(async () => {
  chain = await startTestChain()
  installMints(chain.ledger)
})
afterAll(() => chain.close())

const apple = splCatalog.find(({ symbol }) => symbol === "AAPLx")!

describe("the issuer of the world's tokens", () => {
  it.each(splCatalog)("$symbol has a mint that nodes' clients read", async (token) => {
    const mint = await getMint(chain.connection, token.mint, "confirmed", token.program)
    assert.strictEqual(mint.decimals, token.decimals)
    assert.strictEqual(getScaledUiAmountConfig(mint)?.multiplier, token.multiplier)
    assert.strictEqual(getPausableConfig(mint)?.paused, token.multiplier === undefined ? undefined : false)
    assert.strictEqual(
      getPermanentDelegate(mint)?.delegate.toBase58(),
      token.multiplier === undefined ? undefined : issuer.toBase58()
    )
    assert.strictEqual(mint.mintAuthority?.toBase58(), token.mint.equals(NATIVE_MINT) ? undefined : issuer.toBase58())
  })

  it.each(splCatalog)("gives raw units of $symbol, once for each time", async (token) => {
    const owner = Keypair.generate().publicKey
    const first = issue(chain.ledger, owner, { token, amountRaw: 1_500_000n })
    assert.notStrictEqual(issue(chain.ledger, owner, { token, amountRaw: 500_000n }), first)
    const account = await getAccount(chain.connection, tokenAccount(token, owner), "confirmed", token.program)
    assert.strictEqual(account.amount, 2_000_000n)
    assert.isTrue(account.owner.equals(owner))
  })

  it("mints are made once, and a second start leaves them", () => {
    const before = chain.ledger.account(usdc.mint)!.data
    installMints(chain.ledger)
    assert.deepStrictEqual(chain.ledger.account(usdc.mint)!.data, before)
  })

  it("a share that is halted does not move, and moves again", async () => {
    const [from, to] = [fundedKey(chain), Keypair.generate().publicKey]
    issue(chain.ledger, from.publicKey, { token: apple, amountRaw: 100n })
    issue(chain.ledger, to, { token: apple, amountRaw: 1n })
    const move = () =>
      land(
        chain,
        [
          createTransferCheckedInstruction(
            tokenAccount(apple, from.publicKey),
            apple.mint,
            tokenAccount(apple, to),
            from.publicKey,
            10n,
            apple.decimals,
            [],
            apple.program
          )
        ],
        [from]
      )
    pause(chain.ledger, apple)
    assert.deepStrictEqual((await move()).error, { InstructionError: [0, { Custom: 67 }] })
    resume(chain.ledger, apple)
    assert.isNull((await move()).error)
  })

  it("a share gets another multiplier from a second on", async () => {
    rescale(chain.ledger, apple, { multiplier: 10, from: chain.now + 60n })
    const mint = await getMint(chain.connection, apple.mint, "confirmed", apple.program)
    const config = getScaledUiAmountConfig(mint)!
    assert.deepStrictEqual([config.multiplier, config.newMultiplier], [apple.multiplier, 10])
    assert.strictEqual(config.newMultiplierEffectiveTimestamp, chain.now + 60n)
  })

  it("knows its tokens by asset and by mint", () => {
    for (const token of splCatalog) {
      assert.strictEqual(splTokenOf(token.assetId), token)
      assert.strictEqual(splTokenOf(token.mint.toBase58()), token)
    }
    assert.isUndefined(splTokenOf("nothing"))
  })
})
