/** What a thief with the agent's key can do on chain, and what not. docs/solana.md says the same in numbers. */
import { afterAll, assert, beforeAll, it } from "@effect/vitest"
import { Keypair, PublicKey, SystemProgram, TransactionInstruction } from "@solana/web3.js"
import {
  Actions,
  createEd25519AuthorityInfo,
  type Ed25519Authority,
  Ed25519Instruction,
  getMockAuthorityFromCreateAuthorityInfo,
  SolInstruction,
  type SwigInstructionContext
} from "@swig-wallet/lib"
import { Effect } from "effect"
import { rootHoldings } from "#layers/solana/swig/addresses.ts"
import { buildStep } from "#layers/solana/swig/buildTransaction.ts"
import { eachSwig } from "#test/layers/solana/eachSwig.ts"
import { enrollSolana, newAgent, onChain } from "#test/layers/solana/owners.ts"
import { land, lamportsOf, sol, type TestChain } from "#test/sandbox/solana/support.ts"

const instructionOf = (context: SwigInstructionContext) => {
  const { data, keys, programId } = context.getWeb3Instructions()[0]!
  return new TransactionInstruction({
    programId: new PublicKey(programId.toBytes()),
    keys: keys.map((key) => ({ ...key, pubkey: new PublicKey(key.pubkey.toBytes()) })),
    data: Buffer.from(data)
  })
}

eachSwig("a stolen key of the agent", (start) => {
  let chain: TestChain
  beforeAll(async () => {
    chain = await start()
  })
  afterAll(() => chain.close())

  const robbed = Effect.gen(function* () {
    const [agent, owner] = [newAgent(chain), Keypair.generate()]
    chain.ledger.airdrop(owner.publicKey, sol)
    const enrolled = yield* onChain(chain)(enrollSolana(chain, agent, owner))
    chain.ledger.airdrop(enrolled.deposit, sol)
    chain.ledger.airdrop(rootHoldings(enrolled.wallet).address, sol)
    const acting = getMockAuthorityFromCreateAuthorityInfo(createEd25519AuthorityInfo(agent.key)) as Ed25519Authority
    const landed = (instruction: TransactionInstruction) =>
      Effect.map(
        Effect.promise(() => land(chain, [instruction], [agent.pair])),
        ({ error }) => error
      )
    return { agent, owner, enrolled, acting, landed }
  })
  const custom = (code: number) => ({ InstructionError: [0, { Custom: code }] })

  it.live("takes all that is in the portfolios of that agent, at once and to anybody", () =>
    Effect.gen(function* () {
      const { agent, enrolled, landed } = yield* robbed
      const { deposit, place } = enrolled
      const thief = Keypair.generate().publicKey
      const inner = [SystemProgram.transfer({ fromPubkey: deposit, toPubkey: thief, lamports: sol })]
      const step = { _tag: "ActForSubAccount", id: place.walletId, roleId: place.roleId, inner } as const
      assert.isNull(yield* landed(yield* Effect.promise(() => buildStep(agent.key, step))))
      assert.strictEqual(lamportsOf(chain, thief), sol)
    })
  )

  it.live("takes nothing of what the root holds", () =>
    Effect.gen(function* () {
      const { acting, agent, enrolled, landed } = yield* robbed
      const holdings = rootHoldings(enrolled.wallet).address
      const thief = Keypair.generate().publicKey
      const context = yield* Effect.promise(() =>
        acting.signV2({
          swigAddress: enrolled.wallet,
          swigSystemAddress: holdings,
          payer: agent.key,
          roleId: 1,
          innerInstructions: [
            SolInstruction.from(SystemProgram.transfer({ fromPubkey: holdings, toPubkey: thief, lamports: sol }))
          ]
        })
      )
      assert.deepStrictEqual(yield* landed(instructionOf(context)), custom(3006))
      assert.strictEqual(lamportsOf(chain, thief), 0n)
    })
  )

  it.live("adds no role, and removes none", () =>
    Effect.gen(function* () {
      const { acting, agent, enrolled, landed } = yield* robbed
      const all = Actions.set().all().get()
      const { data, type } = createEd25519AuthorityInfo(agent.key)
      const added = yield* Effect.promise(() =>
        Ed25519Instruction.addAuthorityV1Instruction(
          { swig: enrolled.wallet, payer: agent.key },
          {
            actingRoleId: 1,
            actions: all.bytes(),
            noOfActions: all.count,
            newAuthorityData: data,
            newAuthorityType: type,
            authorityData: agent.key.toBytes()
          }
        )
      )
      assert.deepStrictEqual(yield* landed(instructionOf(added)), custom(3010))
      const removed = yield* Effect.promise(() =>
        acting.removeAuthority({ payer: agent.key, swigAddress: enrolled.wallet, roleId: 1, roleIdToRemove: 1 })
      )
      assert.deepStrictEqual(yield* landed(instructionOf(removed)), custom(3010))
    })
  )
})
