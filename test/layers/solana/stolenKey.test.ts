/** What a thief with the agent's key can do on chain, and what not. docs/solana.md says the same, row by row. */
import { afterAll, assert, beforeAll, it } from "@effect/vitest"
import { createApproveCheckedInstruction, createTransferCheckedInstruction } from "@solana/spl-token"
import { Keypair, PublicKey, SystemProgram, TransactionInstruction } from "@solana/web3.js"
import {
  Actions,
  createEd25519AuthorityInfo,
  type Ed25519Authority,
  Ed25519Instruction,
  SolInstruction
} from "@swig-wallet/lib"
import { Effect } from "effect"
import { rootHoldings, swigProgram } from "#layers/solana/swig/addresses.ts"
import { buildStep } from "#layers/solana/swig/buildTransaction.ts"
import type { Emulation } from "#sandbox/solana/Emulation.ts"
import { usdc } from "#sandbox/assets/splCatalog.ts"
import { installMints, issue, tokenAccount } from "#sandbox/solana/market/issuer.ts"
import { amountIn } from "#sandbox/solana/market/splPools.ts"
import { eachSwig } from "#test/layers/solana/eachSwig.ts"
import { enrollSolana, newAgent, onChain } from "#test/layers/solana/owners.ts"
import { replaceAuthority } from "#layers/solana/withdrawal/leave/replaceAuthority.ts"
import { authorityOf, instructionOf } from "#test/layers/solana/walletPackage.ts"
import { land, lamportsOf, sol, type TestChain } from "#test/sandbox/solana/support.ts"

const caller = new PublicKey(new Uint8Array(32).fill(9))

eachSwig("a stolen key of the agent", (start) => {
  let chain: TestChain
  beforeAll(async () => {
    // A program that calls whatever it is given.
    const forwarding = new Map([
      [
        caller.toBase58(),
        (({ data, keys }, context) =>
          context.call(new TransactionInstruction({ programId: swigProgram, keys, data }))) satisfies Emulation
      ]
    ])
    chain = await start(forwarding)
    installMints(chain.ledger)
  })
  afterAll(() => chain.close())

  const robbed = Effect.gen(function* () {
    const [agent, owner] = [newAgent(chain), Keypair.generate()]
    chain.ledger.airdrop(owner.publicKey, sol)
    const enrolled = yield* onChain(chain)(enrollSolana(chain, agent, owner))
    chain.ledger.airdrop(enrolled.deposit, sol)
    chain.ledger.airdrop(rootHoldings(enrolled.wallet).address, sol)
    const [acting, root] = [agent.key, owner.publicKey].map(authorityOf) as [Ed25519Authority, Ed25519Authority]
    const landedBy = (key: Keypair) => (instruction: TransactionInstruction) =>
      Effect.map(
        Effect.promise(() => land(chain, [instruction], [key])),
        ({ error }) => error
      )
    const [landed, landedByOwner] = [landedBy(agent.pair), landedBy(owner)]
    const { deposit, place, wallet } = enrolled
    const thief = Keypair.generate()
    chain.ledger.airdrop(thief.publicKey, sol)
    const packs = (...inner: ReadonlyArray<TransactionInstruction>) =>
      Effect.promise(() =>
        buildStep(agent.key, { _tag: "ActForSubAccount", id: place.walletId, roleId: place.roleId, inner })
      )
    const takesLamports = Effect.flatMap(
      packs(SystemProgram.transfer({ fromPubkey: deposit, toPubkey: thief.publicKey, lamports: sol / 10n })),
      landed
    )
    const toggle = (by: "agent" | "owner", enabled: boolean) =>
      Effect.flatMap(
        Effect.promise(async () =>
          instructionOf(
            await (by === "agent" ? acting : root).subAccountToggle({
              payer: by === "agent" ? agent.key : owner.publicKey,
              swigAddress: wallet,
              subAccount: deposit,
              subAccountRoleId: 1,
              actingRoleId: by === "agent" ? 1 : 0,
              enabled
            })
          )
        ),
        by === "agent" ? landed : landedByOwner
      )
    const remove = (by: "agent" | "owner") =>
      Effect.flatMap(
        Effect.promise(async () =>
          instructionOf(
            await (by === "agent" ? acting : root).removeAuthority({
              payer: by === "agent" ? agent.key : owner.publicKey,
              swigAddress: wallet,
              roleId: by === "agent" ? 1 : 0,
              roleIdToRemove: 1
            })
          )
        ),
        by === "agent" ? landed : landedByOwner
      )
    /** The owner's key in the agent's place. */
    const replace = landedByOwner(replaceAuthority(wallet, { role: 1, holder: owner.publicKey, key: owner.publicKey }))
    return {
      agent,
      owner,
      enrolled,
      acting,
      landed,
      landedByOwner,
      packs,
      remove,
      replace,
      takesLamports,
      thief,
      toggle
    }
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

  it.live("adds no role, and holds no other than its own", () =>
    Effect.gen(function* () {
      const { agent, enrolled, landed } = yield* robbed
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
      assert.deepStrictEqual(
        yield* landed(
          replaceAuthority(enrolled.wallet, { role: 0, holder: agent.key, key: Keypair.generate().publicKey }, 1)
        ),
        custom(3006)
      )
    })
  )

  it.live("switches its sub-account on again after the owner has switched it off", () =>
    Effect.gen(function* () {
      const { takesLamports, thief, toggle } = yield* robbed
      assert.isNull(yield* toggle("owner", false))
      assert.deepStrictEqual(yield* takesLamports, custom(38))
      assert.isNull(yield* toggle("agent", true))
      assert.isNull(yield* takesLamports)
      assert.strictEqual(lamportsOf(chain, thief.publicKey), sol + sol / 10n)
    })
  )

  it.live("removes its own role, takes the rent of it, and so leaves the sub-account to the root alone", () =>
    Effect.gen(function* () {
      const { agent, enrolled, remove, takesLamports } = yield* robbed
      const [before, held] = [lamportsOf(chain, agent.key), lamportsOf(chain, enrolled.wallet)]
      assert.isNull(yield* remove("agent"))
      const freed = held - lamportsOf(chain, enrolled.wallet)
      assert.isAbove(Number(freed), 0)
      assert.strictEqual(lamportsOf(chain, agent.key), before + freed - 5_000n)
      assert.deepStrictEqual(yield* takesLamports, custom(12))
    })
  )

  it.live("does nothing more once the owner has removed its role, or holds it", () =>
    Effect.gen(function* () {
      const removed = yield* robbed
      assert.isNull(yield* removed.remove("owner"))
      assert.deepStrictEqual(yield* removed.takesLamports, custom(12))
      assert.deepStrictEqual(yield* removed.toggle("agent", true), custom(12))
      const replaced = yield* robbed
      assert.isNull(yield* replaced.replace)
      assert.deepStrictEqual(yield* replaced.takesLamports, custom(3005))
      assert.deepStrictEqual(yield* replaced.toggle("agent", true), custom(3005))
      assert.deepStrictEqual(yield* replaced.remove("agent"), custom(3005))
    })
  )

  it.live.each(["off", "removed", "replaced"] as const)(
    "leaves a delegate that takes later deposits, also when the role is %s",
    (stop) =>
      Effect.gen(function* () {
        const { enrolled, landed, packs, remove, replace, thief, toggle } = yield* robbed
        const { deposit } = enrolled
        issue(chain.ledger, deposit, { token: usdc, amountRaw: 12_000_000n })
        const account = tokenAccount(usdc, deposit)
        const { decimals, mint, program } = usdc
        const approve = createApproveCheckedInstruction(
          account,
          mint,
          thief.publicKey,
          deposit,
          2n ** 64n - 1n,
          decimals,
          [],
          program
        )
        assert.isNull(yield* landed(yield* packs(approve)))
        assert.isNull(yield* { off: toggle("owner", false), removed: remove("owner"), replaced: replace }[stop])
        issue(chain.ledger, deposit, { token: usdc, amountRaw: 88_000_000n })
        issue(chain.ledger, thief.publicKey, { token: usdc, amountRaw: 0n })
        const to = tokenAccount(usdc, thief.publicKey)
        const take = createTransferCheckedInstruction(
          account,
          mint,
          to,
          thief.publicKey,
          100_000_000n,
          decimals,
          [],
          program
        )
        const { error } = yield* Effect.promise(() => land(chain, [take], [thief]))
        assert.isNull(error)
        assert.strictEqual(amountIn(chain.ledger.account(to)?.data), 100_000_000n)
      })
  )

  it.live("makes the sub-account useless for everybody, for ever: another program owns it then", () =>
    Effect.gen(function* () {
      const { enrolled, landed, landedByOwner, owner, packs, takesLamports } = yield* robbed
      const { deposit, wallet } = enrolled
      const programId = Keypair.generate().publicKey
      assert.isNull(yield* landed(yield* packs(SystemProgram.assign({ accountPubkey: deposit, programId }))))
      assert.deepStrictEqual(yield* takesLamports, custom(34))
      const withdraw = yield* Effect.promise(() =>
        Ed25519Instruction.subAccountWithdrawV1SolInstruction(
          {
            payer: owner.publicKey,
            swig: wallet,
            swigSystemAddress: rootHoldings(wallet).address,
            subAccount: deposit
          },
          { roleId: 0, authorityData: owner.publicKey.toBytes(), amount: 1n }
        )
      )
      assert.deepStrictEqual(yield* landedByOwner(instructionOf(withdraw)), custom(34))
    })
  )

  it.live("spends the agent's own lamports through the sub-account: whoever signed outside signs inside", () =>
    Effect.gen(function* () {
      const { agent, landed, packs, thief } = yield* robbed
      const pay = SystemProgram.transfer({ fromPubkey: agent.key, toPubkey: thief.publicKey, lamports: sol })
      assert.isNull(yield* landed(yield* packs(pay)))
      assert.strictEqual(lamportsOf(chain, thief.publicKey), 2n * sol)
    })
  )

  it.live("does not sign for the sub-account through another program", () =>
    Effect.gen(function* () {
      const { enrolled, landed, packs, thief } = yield* robbed
      const { data, keys } = yield* packs(
        SystemProgram.transfer({ fromPubkey: enrolled.deposit, toPubkey: thief.publicKey, lamports: 1n })
      )
      assert.deepStrictEqual(yield* landed(new TransactionInstruction({ programId: caller, keys, data })), custom(8))
    })
  )

  it.live("moves what is in the sub-account to the wallet's own address, of which the root alone takes it", () =>
    Effect.gen(function* () {
      const { agent, enrolled, landed } = yield* robbed
      const { deposit, wallet } = enrolled
      const holdings = rootHoldings(wallet).address
      const before = lamportsOf(chain, holdings)
      const withdraw = yield* Effect.promise(() =>
        Ed25519Instruction.subAccountWithdrawV1SolInstruction(
          { payer: agent.key, swig: wallet, swigSystemAddress: holdings, subAccount: deposit },
          { roleId: 1, authorityData: agent.key.toBytes(), amount: sol / 2n }
        )
      )
      assert.isNull(yield* landed(instructionOf(withdraw)))
      assert.strictEqual(lamportsOf(chain, holdings), before + sol / 2n)
    })
  )
})
