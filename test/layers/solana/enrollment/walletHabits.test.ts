/** What wallets do to an issued transaction before their owners sign it, and what nobody may do to it. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import {
  ComputeBudgetProgram,
  Keypair,
  type MessageV0,
  type PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction
} from "@solana/web3.js"
import { Effect } from "effect"
import { acceptFromSolanaOwner, issueForSolanaOwner } from "#layers/solana/enrollment/solanaOwner.ts"
import { assertionProgram } from "#layers/solana/swig/addresses.ts"
import { addressesOf } from "#layers/solana/swig/PortfolioRole.ts"
import { executed, fees, newAgent, onChain, tenantId } from "#test/layers/solana/owners.ts"
import { startTestChain, type TestChain } from "#test/sandbox/solana/support.ts"

type Change = (
  instructions: Array<TransactionInstruction>,
  keys: { readonly owner: PublicKey; readonly agent: PublicKey; readonly wallet: PublicKey }
) => void

const assertion = (...accounts: ReadonlyArray<PublicKey>) =>
  new TransactionInstruction({
    programId: assertionProgram,
    keys: accounts.map((pubkey) => ({ pubkey, isSigner: false, isWritable: false })),
    data: Buffer.from([5, 0, 0, 1, 2, 3, 4])
  })

describe("a wallet", () => {
  let chain: TestChain
  beforeAll(async () => {
    // Assertions hold in this world: nobody has the program's code.
    chain = await startTestChain({ emulations: new Map([[assertionProgram.toBase58(), () => []]]) })
  })
  afterAll(() => chain.close())

  const returned = Effect.fnUntraced(function* (change: Change) {
    const [agent, owner] = [newAgent(chain), Keypair.generate()]
    const issued = yield* onChain(chain)(
      issueForSolanaOwner({ tenantId, owner: owner.publicKey, agent: agent.key, brand: "Ballast", fees })
    )
    const transaction = VersionedTransaction.deserialize(Buffer.from(issued.transaction, "base64"))
    const message = TransactionMessage.decompile(transaction.message as MessageV0)
    change(message.instructions, {
      owner: owner.publicKey,
      agent: agent.key,
      wallet: addressesOf(issued.flow).wallet
    })
    const changed = new VersionedTransaction(message.compileToV0Message())
    changed.sign([owner])
    return acceptFromSolanaOwner({
      agent,
      fees,
      flow: issued.flow,
      owner: owner.publicKey,
      signedTransaction: Buffer.from(changed.serialize()).toString("base64")
    })
  })

  const habits: ReadonlyArray<readonly [string, Change]> = [
    ["adds an assertion", (list, { owner }) => list.push(assertion(owner))],
    ["adds several", (list, { owner }) => list.push(assertion(owner), assertion(Keypair.generate().publicKey))],
    ["limits units otherwise", (list) => (list[0] = ComputeBudgetProgram.setComputeUnitLimit({ units: 200_000 }))],
    ["pays more for them", (list) => (list[1] = ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 50_000 }))]
  ]
  it.live.each(habits)("that %s enrolls its owner", ([, change]) =>
    Effect.gen(function* () {
      const { outcome } = yield* onChain(chain)(executed(chain, yield* returned(change)))
      assert.strictEqual(outcome._tag, "Landed")
    })
  )

  const misdeeds: ReadonlyArray<readonly [string, Change]> = [
    [
      "an instruction of another program",
      (list) =>
        list.push(
          SystemProgram.nonceInitialize({
            noncePubkey: Keypair.generate().publicKey,
            authorizedPubkey: Keypair.generate().publicKey
          })
        )
    ],
    ["an assertion with the agent among its accounts", (list, { agent }) => list.push(assertion(agent))],
    ["an assertion that may write to the wallet", (list, { wallet }) => list.push(assertion(wallet))],
    ["an assertion before what was issued", (list, { owner }) => list.splice(2, 0, assertion(owner))],
    ["too many assertions", (list, { owner }) => list.push(...Array.from({ length: 9 }, () => assertion(owner)))],
    [
      "a price above the ceiling",
      (list) => (list[1] = ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 10n ** 9n }))
    ],
    ["less than was issued", (list) => list.pop()],
    [
      "a payment by the agent",
      (list, { agent, owner }) => list.push(SystemProgram.transfer({ fromPubkey: agent, toPubkey: owner, lamports: 1 }))
    ]
  ]
  it.live.each(misdeeds)("that returns %s is refused before the agent signs", ([, change]) =>
    Effect.gen(function* () {
      const refused = yield* Effect.flip(onChain(chain)(yield* returned(change)))
      assert.deepInclude(refused, { _tag: "OwnerSignatureRefused", field: "signedSolanaTransaction" })
    })
  )
})
