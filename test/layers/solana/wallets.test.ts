import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Keypair, SystemProgram } from "@solana/web3.js"
import { fetchSwig, findSwigPda, findSwigSubAccountPda } from "@swig-wallet/classic"
import { createHash } from "node:crypto"
import type { Consent, Step } from "#layers/solana/swig/Plan.ts"
import { subAccount, walletConfig } from "#layers/solana/swig/addresses.ts"
import { buildStep } from "#layers/solana/swig/buildTransaction.ts"
import { submit, consentOf, newEvmOwner, newWalletId, walletAt } from "#test/layers/solana/submit.ts"
import { fundedKey, lamportsOf, land, sol, startTestChain, type TestChain } from "#test/sandbox/solana/support.ts"

let chain: TestChain
beforeAll(async () => {
  chain = await startTestChain()
})
afterAll(() => chain.close())

const custom = (index: number, code: number) => ({ InstructionError: [index, { Custom: code }] })

const enrollment = (id: Uint8Array, consent: Consent, roleId = 1): ReadonlyArray<Step> => [
  { _tag: "CreateWallet", id, consent },
  { _tag: "AddAgent", id, consent },
  { _tag: "CreateSubAccount", id, roleId }
]

const enrolled = async () => {
  const [agent, owner] = [fundedKey(chain), Keypair.generate()]
  const id = newWalletId()
  const consent = { _tag: "SignsTransaction", key: owner.publicKey } as const
  const { bytes, error } = await submit(chain, enrollment(id, consent), [agent, owner])
  assert.isNull(error)
  return { agent, owner, id, consent, bytes, account: subAccount(id, 1).address }
}

const pay = (from: ReturnType<typeof subAccount>["address"], lamports: bigint) =>
  SystemProgram.transfer({ fromPubkey: from, toPubkey: Keypair.generate().publicKey, lamports })

const act = (id: Uint8Array, lamports: bigint, roleId = 1): ReadonlyArray<Step> => [
  { _tag: "ActForSubAccount", id, roleId, inner: [pay(subAccount(id, roleId).address, lamports)] }
]

describe("wallets of Solana owners", () => {
  it("wallet, agent and sub-account are made by one transaction that fits, and others read it", async () => {
    const { account, agent, bytes, id, owner } = await enrolled()
    assert.isAtMost(bytes, 1_232)
    const swig = await fetchSwig(chain.connection, findSwigPda(id))
    assert.strictEqual(swig.roles.length, 2)
    assert.strictEqual(swig.findRolesByEd25519SignerPk(agent.publicKey)[0]!.id, 1)
    assert.isTrue(swig.findRoleById(0)!.actions.isRoot())
    assert.strictEqual(swig.findRolesByEd25519SignerPk(owner.publicKey)[0]!.id, 0)
    assert.strictEqual(account.toBase58(), findSwigSubAccountPda(id, 1).toBase58())
    assert.strictEqual(lamportsOf(chain, account), chain.ledger.rentOf(0))
    assert.deepStrictEqual(
      walletAt(chain, id).roles.map(({ id }) => id),
      [0, 1]
    )
  })

  it("a second portfolio reuses the wallet, and its sub-account is another", async () => {
    const { agent, consent, id, owner } = await enrolled()
    const { error } = await submit(chain, enrollment(id, consent, 2).slice(1), [agent, owner])
    assert.isNull(error)
    assert.strictEqual(walletAt(chain, id).nextRole, 3)
    assert.isAbove(Number(lamportsOf(chain, subAccount(id, 2).address)), 0)
  })

  it("of two enrollments that expect the same role one fails as a whole", async () => {
    const { agent, consent, id, owner } = await enrolled()
    assert.isNull((await submit(chain, enrollment(id, consent, 2).slice(1), [agent, owner])).error)
    const before = walletAt(chain, id)
    const { error } = await submit(chain, enrollment(id, consent, 2).slice(1), [agent, owner])
    assert.deepStrictEqual(error, custom(1, 36))
    assert.deepStrictEqual(walletAt(chain, id), before)
  })

  it("a wallet is made once", async () => {
    const { agent, consent, id, owner } = await enrolled()
    const { error } = await submit(chain, enrollment(id, consent), [agent, owner])
    assert.deepStrictEqual(error, custom(0, 2))
  })

  it("a refusal lands and takes the fee of its signatures, and changes nothing else", async () => {
    const { agent, consent, id, owner } = await enrolled()
    const before = lamportsOf(chain, agent.publicKey)
    await submit(chain, enrollment(id, consent), [agent, owner])
    assert.strictEqual(lamportsOf(chain, agent.publicKey), before - 10_000n)
  })

  it("what succeeds costs the fee of its own signatures, whatever the expansion signs", async () => {
    const { agent, id } = await enrolled()
    chain.ledger.airdrop(subAccount(id, 1).address, sol)
    const before = lamportsOf(chain, agent.publicKey)
    assert.isNull((await submit(chain, act(id, sol), [agent])).error)
    assert.strictEqual(lamportsOf(chain, agent.publicKey), before - 5_000n)
  })
})

describe("wallets of EVM owners", () => {
  const evmEnrollment = async (slotsLater: bigint, change: (consent: Consent) => Consent = (consent) => consent) => {
    const [agent, owner, id] = [fundedKey(chain), newEvmOwner(), newWalletId()]
    const slot = chain.ledger.slot
    const consent = change(await consentOf(owner, { agent: agent.publicKey, id, odometer: 1, slot }))
    chain.ledger.advance(slotsLater)
    const result = await submit(chain, enrollment(id, consent), [agent])
    return { ...result, agent, owner, id, slot, consent }
  }

  it("one signature of the owner's wallet is enough; the agent alone signs the transaction", async () => {
    const { bytes, error, id } = await evmEnrollment(0n)
    assert.isNull(error)
    assert.isAtMost(bytes, 1_232)
    const [root] = walletAt(chain, id).roles
    assert.strictEqual(root!.holder._tag === "Secp256k1" && root!.holder.odometer, 1)
    const swig = await fetchSwig(chain.connection, findSwigPda(id))
    assert.strictEqual(swig.roles.length, 2)
  })

  it("the signature is good for 60 slots and not for 61", async () => {
    assert.isNull((await evmEnrollment(60n)).error)
    assert.deepStrictEqual((await evmEnrollment(61n)).error, custom(1, 3015))
  })

  it("a slot of the future is refused", async () => {
    const [agent, owner, id] = [fundedKey(chain), newEvmOwner(), newWalletId()]
    const slot = chain.ledger.slot + 10n
    const consent = await consentOf(owner, { agent: agent.publicKey, id, odometer: 1, slot })
    assert.deepStrictEqual((await submit(chain, enrollment(id, consent), [agent])).error, custom(1, 3015))
  })

  it("a signature serves once; the next needs the next odometer", async () => {
    const { agent, consent, error, id, owner } = await evmEnrollment(0n)
    assert.isNull(error)
    const again = enrollment(id, consent, 2).slice(1)
    assert.deepStrictEqual((await submit(chain, again, [agent])).error, custom(0, 3017))
    const slot = chain.ledger.slot
    const next = await consentOf(owner, { agent: agent.publicKey, id, odometer: 2, slot })
    assert.isNull((await submit(chain, enrollment(id, next, 2).slice(1), [agent])).error)
    assert.strictEqual(walletAt(chain, id).nextRole, 3)
  })

  it("a signature of another key, or over another text, is refused", async () => {
    const other = newEvmOwner()
    const { error } = await evmEnrollment(0n, (consent) =>
      consent._tag === "PersonalSignature" ? { ...consent, publicKey: other.publicKey } : consent
    )
    assert.deepStrictEqual(error, custom(1, 3005))
    const changed = await evmEnrollment(0n, (consent) =>
      consent._tag === "PersonalSignature" ? { ...consent, slot: consent.slot - 1n } : consent
    )
    assert.deepStrictEqual(changed.error, custom(1, 3005))
  })

  it("the text that is signed is what the packages would have signed", async () => {
    const { addAuthorityText } = await import("#test/layers/solana/packageText.ts")
    const [agent, owner, id] = [fundedKey(chain), newEvmOwner(), newWalletId()]
    const [slot, odometer] = [chain.ledger.slot, 7]
    const theirs = await addAuthorityText({ agent: agent.publicKey, owner: owner.publicKey, id, slot, odometer })
    let ours = ""
    await consentOf(
      { ...owner, sign: async (text) => ((ours = text), new Uint8Array(65)) },
      {
        agent: agent.publicKey,
        id,
        slot,
        odometer
      }
    )
    assert.strictEqual(ours, theirs)
  })
})

describe("acting for a sub-account", () => {
  it("the agent moves what is in it, and leaves its rent", async () => {
    const { account, agent, id } = await enrolled()
    chain.ledger.airdrop(account, sol)
    assert.deepStrictEqual((await submit(chain, act(id, sol + 1n), [agent])).error, custom(0, 3011))
    assert.isNull((await submit(chain, act(id, sol), [agent])).error)
    assert.strictEqual(lamportsOf(chain, account), chain.ledger.rentOf(0))
  })

  it("nobody else does", async () => {
    const { account, id } = await enrolled()
    chain.ledger.airdrop(account, sol)
    const outsider = fundedKey(chain)
    assert.deepStrictEqual((await submit(chain, act(id, 1n), [outsider])).error, custom(0, 3005))
  })

  it("of several instructions all take effect or none", async () => {
    const { account, agent, id } = await enrolled()
    chain.ledger.airdrop(account, sol)
    const { error } = await submit(chain, [...act(id, sol / 2n), ...act(id, 100n * sol)], [agent])
    assert.deepStrictEqual(error, custom(1, 1))
    assert.strictEqual(lamportsOf(chain, account), sol + chain.ledger.rentOf(0))
  })

  it("a role does not act for the sub-account of another", async () => {
    const { agent, consent, id, owner } = await enrolled()
    assert.isNull((await submit(chain, enrollment(id, consent, 2).slice(1), [agent, owner])).error)
    chain.ledger.airdrop(subAccount(id, 2).address, sol)
    const instruction = await buildStep(agent.publicKey, act(id, 1n)[0]!)
    const own = subAccount(id, 1).address
    for (const key of instruction.keys) if (key.pubkey.equals(own)) key.pubkey = subAccount(id, 2).address
    assert.deepStrictEqual((await land(chain, [instruction], [agent])).error, custom(0, 39))
    assert.strictEqual(lamportsOf(chain, subAccount(id, 2).address), sol + chain.ledger.rentOf(0))
  })

  it("wallet addresses follow from the id alone", () => {
    const id = createHash("sha256").update("any").digest()
    assert.strictEqual(walletConfig(id).address.toBase58(), findSwigPda(id).toBase58())
    for (const role of [0, 1, 10, 4_000_000_000]) {
      assert.strictEqual(subAccount(id, role).address.toBase58(), findSwigSubAccountPda(id, role).toBase58())
    }
  })
})
