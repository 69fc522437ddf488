/** What the owner of a wallet does without the service, by the packages that wallets use. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Keypair, SystemProgram } from "@solana/web3.js"
import { Ed25519Instruction, SolInstruction } from "@swig-wallet/lib"
import { rootHoldings, subAccount, walletConfig } from "#layers/solana/swig/addresses.ts"
import { submit, firstSubAccount, newWalletId } from "#test/layers/solana/submit.ts"
import { replaceAuthority } from "#layers/solana/withdrawal/leave/replaceAuthority.ts"
import { authorityOf, instructionOf } from "#test/layers/solana/walletPackage.ts"
import { fundedKey, lamportsOf, land, sol, startTestChain, type TestChain } from "#test/sandbox/solana/support.ts"

let chain: TestChain
beforeAll(async () => {
  chain = await startTestChain()
})
afterAll(() => chain.close())

const enrolled = async () => {
  const [agent, owner, id] = [fundedKey(chain), fundedKey(chain), newWalletId()]
  assert.isNull((await submit(chain, firstSubAccount(id, owner.publicKey), [agent, owner])).error)
  const account = subAccount(id, 1).address
  chain.ledger.airdrop(account, sol)
  const root = authorityOf(owner.publicKey)
  const swig = walletConfig(id).address
  const acts = async () => {
    const inner = [
      SystemProgram.transfer({ fromPubkey: account, toPubkey: Keypair.generate().publicKey, lamports: sol / 10n })
    ]
    return (await submit(chain, [{ _tag: "ActForSubAccount", id, roleId: 1, inner }], [agent])).error
  }
  return { agent, owner, id, account, root, swig, acts }
}

describe("the owner alone", () => {
  it("stops the agent by switching the sub-account off, and lets it go on", async () => {
    const { account, acts, owner, root, swig } = await enrolled()
    const toggle = async (enabled: boolean) =>
      land(
        chain,
        [
          instructionOf(
            await root.subAccountToggle({
              payer: owner.publicKey,
              swigAddress: swig,
              subAccount: account,
              subAccountRoleId: 1,
              actingRoleId: 0,
              enabled
            })
          )
        ],
        [owner]
      )
    assert.isNull((await toggle(false)).error)
    assert.deepStrictEqual(await acts(), { InstructionError: [0, { Custom: 38 }] })
    assert.isNull((await toggle(true)).error)
    assert.isNull(await acts())
  })

  it("removes the agent's role", async () => {
    const { acts, owner, root, swig } = await enrolled()
    const remove = await root.removeAuthority({
      payer: owner.publicKey,
      swigAddress: swig,
      roleId: 0,
      roleIdToRemove: 1
    })
    assert.isNull((await land(chain, [instructionOf(remove)], [owner])).error)
    assert.deepStrictEqual(await acts(), { InstructionError: [0, { Custom: 12 }] })
  })

  it("holds the agent's role itself, and acts for the sub-account then", async () => {
    const { account, acts, id, owner, swig } = await enrolled()
    const key = fundedKey(chain)
    const replace = replaceAuthority(swig, { role: 1, holder: owner.publicKey, key: key.publicKey })
    assert.isNull((await land(chain, [replace], [owner])).error)
    assert.deepStrictEqual(await acts(), { InstructionError: [0, { Custom: 3005 }] })
    const inner = [SystemProgram.transfer({ fromPubkey: account, toPubkey: owner.publicKey, lamports: sol })]
    assert.isNull((await submit(chain, [{ _tag: "ActForSubAccount", id, roleId: 1, inner }], [key])).error)
    assert.deepStrictEqual((await land(chain, [replace], [owner])).error, { InstructionError: [0, { Custom: 70 }] })
  })

  it("takes lamports out of the sub-account and sends them on, in one transaction", async () => {
    const { account, owner, root, swig } = await enrolled()
    const [holdings, recipient] = [rootHoldings(swig).address, Keypair.generate().publicKey]
    const withdraw = await Ed25519Instruction.subAccountWithdrawV1SolInstruction(
      { payer: owner.publicKey, swig, swigSystemAddress: holdings, subAccount: account },
      { roleId: 0, authorityData: owner.publicKey.toBytes(), amount: sol }
    )
    const send = await root.signV2({
      swigAddress: swig,
      swigSystemAddress: holdings,
      payer: owner.publicKey,
      roleId: 0,
      innerInstructions: [
        SolInstruction.from(SystemProgram.transfer({ fromPubkey: holdings, toPubkey: recipient, lamports: sol }))
      ]
    })
    assert.isNull((await land(chain, [instructionOf(withdraw), instructionOf(send)], [owner])).error)
    assert.strictEqual(lamportsOf(chain, recipient), sol)
    assert.strictEqual(lamportsOf(chain, account), chain.ledger.rentOf(0))
  })

  it("nobody else withdraws, the agent included", async () => {
    const { account, agent, swig } = await enrolled()
    for (const [key, code] of [
      [fundedKey(chain), 3005],
      [agent, 3005]
    ] as const) {
      const withdraw = await Ed25519Instruction.subAccountWithdrawV1SolInstruction(
        { payer: key.publicKey, swig, swigSystemAddress: rootHoldings(swig).address, subAccount: account },
        { roleId: 0, authorityData: key.publicKey.toBytes(), amount: 1n }
      )
      const { error } = await land(chain, [instructionOf(withdraw)], [key])
      assert.deepStrictEqual(error, { InstructionError: [0, { Custom: code }] })
    }
  })
})
