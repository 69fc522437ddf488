/**
 * What docs/solana.md asks owners to do when the service does not answer. Nothing of the service is used here but the
 * addresses of the wallet, which the owner has from enrollment: the packages of the Swig program, and a node.
 */
import { afterAll, assert, beforeAll, it } from "@effect/vitest"
import {
  createAssociatedTokenAccountIdempotentInstruction,
  createTransferCheckedInstruction,
  getAssociatedTokenAddressSync
} from "@solana/spl-token"
import { Keypair, PublicKey, TransactionInstruction } from "@solana/web3.js"
import {
  createEd25519AuthorityInfo,
  type Ed25519Authority,
  Ed25519Instruction,
  getMockAuthorityFromCreateAuthorityInfo,
  SolInstruction,
  type SwigInstructionContext
} from "@swig-wallet/lib"
import { Effect } from "effect"
import { rootHoldings } from "#layers/solana/swig/addresses.ts"
import { installMints, issue, tokenAccount } from "#sandbox/solana/market/issuer.ts"
import { type SplToken, splCatalog, usdc } from "#sandbox/assets/splCatalog.ts"
import { amountIn } from "#sandbox/solana/market/splPools.ts"
import { eachSwig } from "#test/layers/solana/eachSwig.ts"
import { enrollSolana, newAgent, onChain } from "#test/layers/solana/owners.ts"
import { land, sol, type TestChain } from "#test/sandbox/solana/support.ts"

const instructionOf = (context: SwigInstructionContext) => {
  const { data, keys, programId } = context.getWeb3Instructions()[0]!
  return new TransactionInstruction({
    programId: new PublicKey(programId.toBytes()),
    keys: keys.map((key) => ({ ...key, pubkey: new PublicKey(key.pubkey.toBytes()) })),
    data: Buffer.from(data)
  })
}

eachSwig("the owner without the service", (start) => {
  let chain: TestChain
  beforeAll(async () => {
    chain = await start()
    installMints(chain.ledger)
  })
  afterAll(() => chain.close())

  const held = (owner: PublicKey, token: SplToken) => amountIn(chain.ledger.account(tokenAccount(token, owner))?.data)

  /** Out of the sub-account to the root's address, and on to the owner, in one transaction that the owner pays. */
  const takeOut = async (
    owner: Keypair,
    { deposit, wallet }: { deposit: PublicKey; wallet: PublicKey },
    { amount, token }: { amount: bigint; token: SplToken }
  ) => {
    const { decimals, mint, program } = token
    const holdings = rootHoldings(wallet).address
    const [from, through, to] = [deposit, holdings, owner.publicKey].map((holder) =>
      getAssociatedTokenAddressSync(mint, holder, true, program)
    ) as [PublicKey, PublicKey, PublicKey]
    const open = [holdings, owner.publicKey].map((holder, index) =>
      createAssociatedTokenAccountIdempotentInstruction(owner.publicKey, [through, to][index]!, holder, mint, program)
    )
    const withdraw = await Ed25519Instruction.subAccountWithdrawV1TokenInstruction(
      {
        payer: owner.publicKey,
        swig: wallet,
        swigSystemAddress: holdings,
        subAccount: deposit,
        subAccountToken: from,
        swigToken: through,
        tokenProgram: program
      },
      { roleId: 0, authorityData: owner.publicKey.toBytes(), amount }
    )
    const root = getMockAuthorityFromCreateAuthorityInfo(
      createEd25519AuthorityInfo(owner.publicKey)
    ) as Ed25519Authority
    const send = await root.signV2({
      swigAddress: wallet,
      swigSystemAddress: holdings,
      payer: owner.publicKey,
      roleId: 0,
      innerInstructions: [
        SolInstruction.from(
          createTransferCheckedInstruction(through, mint, to, holdings, amount, decimals, [], program)
        )
      ]
    })
    return land(chain, [...open, instructionOf(withdraw), instructionOf(send)], [owner])
  }

  const leave = Effect.fnUntraced(function* (token: SplToken) {
    const [agent, owner] = [newAgent(chain), Keypair.generate()]
    chain.ledger.airdrop(owner.publicKey, sol)
    const enrolled = yield* onChain(chain)(enrollSolana(chain, agent, owner))
    issue(chain.ledger, enrolled.deposit, { token, amountRaw: 12n })
    const { bytes, error } = yield* Effect.promise(() => takeOut(owner, enrolled, { amount: 12n, token }))
    return { bytes, error, owner: held(owner.publicKey, token), deposit: held(enrolled.deposit, token) }
  })

  it.live("an owner takes tokens of SPL Token out of a portfolio by a transaction of his own that fits", () =>
    Effect.gen(function* () {
      const left = yield* leave(usdc)
      assert.isAtMost(left.bytes, 1_232)
      assert.deepInclude(left, { error: null, owner: 12n, deposit: 0n })
    })
  )

  it.live(
    "tokens whose mint may be paused stay: the withdrawal names no mint, and such tokens move with it alone",
    () =>
      Effect.gen(function* () {
        const left = yield* leave(splCatalog.find(({ symbol }) => symbol === "TSLAx")!)
        assert.isNotNull(left.error)
        assert.deepInclude(left, { owner: 0n, deposit: 12n })
      })
  )

  it.live("nobody else does: the agent and a stranger are refused", () =>
    Effect.gen(function* () {
      const [agent, owner] = [newAgent(chain), Keypair.generate()]
      const enrolled = yield* onChain(chain)(enrollSolana(chain, agent, owner))
      issue(chain.ledger, enrolled.deposit, { token: usdc, amountRaw: 12n })
      const stranger = Keypair.generate()
      chain.ledger.airdrop(stranger.publicKey, sol)
      for (const key of [agent.pair, stranger]) {
        const { error } = yield* Effect.promise(() => takeOut(key, enrolled, { amount: 12n, token: usdc }))
        assert.deepStrictEqual(error, { InstructionError: [2, { Custom: 3005 }] })
      }
      assert.strictEqual(held(enrolled.deposit, usdc), 12n)
    })
  )

  it.live("an owner with the last of ten portfolios takes his tokens out of it too", () =>
    Effect.gen(function* () {
      const [agent, owner] = [newAgent(chain), Keypair.generate()]
      chain.ledger.airdrop(owner.publicKey, sol)
      let enrolled = yield* onChain(chain)(enrollSolana(chain, agent, owner))
      while (enrolled.place.roleId < 10) enrolled = yield* onChain(chain)(enrollSolana(chain, agent, owner))
      issue(chain.ledger, enrolled.deposit, { token: usdc, amountRaw: 12n })
      const { error } = yield* Effect.promise(() => takeOut(owner, enrolled, { amount: 12n, token: usdc }))
      assert.isNull(error)
    })
  )
})
