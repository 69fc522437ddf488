import { assert, describe, it } from "@effect/vitest"
import {
  AddressLookupTableAccount,
  Keypair,
  MessageV0,
  type PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage
} from "@solana/web3.js"
import { createTransferCheckedInstruction, TOKEN_PROGRAM_ID } from "@solana/spl-token"
import { Effect, Redacted, Result } from "effect"
import fc from "fast-check"
import { hexToBytes } from "viem"
import { privateKeyToAccount } from "viem/accounts"
import { readFileSync, writeFileSync } from "node:fs"
import * as Ed25519 from "#layers/solana/ed25519.ts"
import { checkBytes } from "#layers/solana/guard/checkBytes.ts"
import { signPlanned } from "#layers/solana/guard/signPlanned.ts"
import type { Step, TransactionPlan } from "#layers/solana/swig/Plan.ts"
import { buildMessage, buildStep } from "#layers/solana/swig/buildTransaction.ts"
import { subAccount } from "#layers/solana/swig/addresses.ts"
import { decodeSwigInstruction } from "#layers/solana/swig/SwigInstruction.ts"

const keyOf = (number: number) => Keypair.fromSeed(new Uint8Array(32).fill(number)).publicKey
const [agent, owner, stranger, mint, source, destination] = [1, 2, 3, 4, 5, 6].map(keyOf) as [
  PublicKey,
  PublicKey,
  PublicKey,
  PublicKey,
  PublicKey,
  PublicKey
]
const id = new Uint8Array(32).fill(9)
const blockhash = keyOf(7).toBase58()
const account = subAccount(id, 1).address

const evmConsent = {
  _tag: "PersonalSignature",
  publicKey: hexToBytes(privateKeyToAccount(`0x${"08".repeat(32)}`).publicKey).slice(1),
  slot: 447_552_100n,
  odometer: 3,
  signature: new Uint8Array(65).fill(5)
} as const
const consent = { _tag: "SignsTransaction", key: owner } as const
const tokens = (amount: bigint, to = destination) =>
  createTransferCheckedInstruction(source, mint, to, account, amount, 6, [], TOKEN_PROGRAM_ID)

/** Every instruction that the service builds, by name. */
const steps: Readonly<Record<string, Step>> = {
  limitUnits: { _tag: "LimitUnits", units: 80_000 },
  limitUnitsWithTag: { _tag: "LimitUnits", units: 80_000, tag: keyOf(12) },
  priceUnits: { _tag: "PriceUnits", microLamports: 1_000n },
  makeTokenAccount: { _tag: "MakeTokenAccount", owner: account, mint, tokenProgram: TOKEN_PROGRAM_ID },
  createWallet: { _tag: "CreateWallet", id, consent },
  createWalletOfEvmOwner: { _tag: "CreateWallet", id, consent: evmConsent },
  addAgent: { _tag: "AddAgent", id, consent },
  addAgentByEvmOwner: { _tag: "AddAgent", id, consent: evmConsent },
  createSubAccount: { _tag: "CreateSubAccount", id, roleId: 1 },
  act: { _tag: "ActForSubAccount", id, roleId: 1, inner: [tokens(40n), tokens(2n ** 64n - 1n, stranger)] }
}

const planOf = (...chosen: ReadonlyArray<Step>): TransactionPlan => ({
  agent,
  blockhash,
  steps: chosen,
  lookupTables: []
})

const refusal = (bytes: Uint8Array, plan: TransactionPlan): string => {
  const result = checkBytes(bytes, plan)
  return Result.isFailure(result) ? result.failure.message : assert.fail("the guard took it")
}

const asJson = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_, one: unknown) => {
      if (one instanceof Uint8Array) return Buffer.from(one).toString("hex")
      return typeof one === "bigint" ? one.toString() : one
    })
  )

describe("golden vectors", () => {
  const path = new URL("golden/instructions.json", import.meta.url)
  const golden = JSON.parse(readFileSync(path, "utf8")) as Record<string, { data: string; accounts: Array<string> }>

  for (const [name, step] of Object.entries(steps)) {
    it(`${name} is, byte for byte, what was checked in`, async () => {
      const built = await buildStep(agent, step)
      const vector = {
        program: built.programId.toBase58(),
        accounts: built.keys.map(
          ({ isSigner, isWritable, pubkey }) =>
            `${pubkey.toBase58()}${isSigner ? " signer" : ""}${isWritable ? " writable" : ""}`
        ),
        data: built.data.toString("hex")
      }
      if (process.env["UPDATE_SNAPSHOT"] !== undefined) {
        golden[name] = vector
        writeFileSync(path, `${JSON.stringify(golden, null, 2)}\n`)
      }
      assert.deepStrictEqual(asJson(vector), golden[name])
    })
  }

  it("the decoder reads what the plan says out of them", () => {
    const read = (name: string) => asJson(decodeSwigInstruction(Buffer.from(golden[name]!.data, "hex")))
    assert.deepInclude(read("createSubAccount"), { _tag: "CreateSubAccount", roleId: 1 })
    assert.deepInclude(read("addAgentByEvmOwner"), {
      actingRole: 0,
      proof: {
        _tag: "PersonalSignature",
        slot: "447552100",
        odometer: 3,
        signature: "05".repeat(65),
        prefix: Buffer.from("\x19Ethereum Signed Message:\n64").toString("hex")
      }
    })
    assert.deepInclude(read("createWallet"), { id: "09".repeat(32), actions: [{ _tag: "All" }] })
  })
})

describe("what the guard lets pass", () => {
  for (const [name, step] of Object.entries(steps)) {
    it(`${name}, as it was built`, async () => {
      const plan = planOf(step)
      assert.isTrue(Result.isSuccess(checkBytes((await buildMessage(plan)).serialize(), plan)))
    })
  }

  it("an enrollment as a whole, and an act by way of a planned lookup table", async () => {
    const whole = planOf(steps["limitUnits"]!, steps["createWallet"]!, steps["addAgent"]!, steps["createSubAccount"]!)
    assert.isTrue(Result.isSuccess(checkBytes((await buildMessage(whole)).serialize(), whole)))
    const table = new AddressLookupTableAccount({
      key: keyOf(11),
      state: {
        deactivationSlot: 2n ** 64n - 1n,
        lastExtendedSlot: 0,
        lastExtendedSlotStartIndex: 0,
        addresses: [source, destination, stranger]
      }
    })
    const withTable = { ...planOf(steps["act"]!), lookupTables: [table] }
    const bytes = (await buildMessage(withTable)).serialize()
    assert.isTrue(Result.isSuccess(checkBytes(bytes, withTable)))
    assert.match(refusal(bytes, planOf(steps["act"]!)), /lookup table .* is not planned/)
  })
})

describe("what the guard refuses", () => {
  const everything = planOf(...Object.values(steps))

  it("any change of any byte of any instruction", async () => {
    const messages = await Promise.all(
      Object.values(steps).map(async (step) => ({
        plan: planOf(step),
        bytes: (await buildMessage(planOf(step))).serialize()
      }))
    )
    fc.assert(
      fc.property(
        fc.constantFrom(...messages),
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        ({ bytes, plan }, place, flip) => {
          const changed = Uint8Array.from(bytes)
          changed[place % bytes.length]! ^= flip
          refusal(changed, plan)
        }
      ),
      { numRuns: 3_000 }
    )
  })

  it("bytes cut short, bytes added, and bytes that are no message", async () => {
    const bytes = (await buildMessage(planOf(steps["act"]!))).serialize()
    for (let length = 0; length < bytes.length; length++) refusal(bytes.slice(0, length), planOf(steps["act"]!))
    refusal(Uint8Array.from([...bytes, 0]), planOf(steps["act"]!))
    assert.match(refusal(new Uint8Array(1_300), everything), /1300 bytes/)
  })

  it("another amount, destination, role, wallet, agent or blockhash", async () => {
    const bytes = (await buildMessage(planOf(steps["act"]!))).serialize()
    const act = steps["act"] as Extract<Step, { readonly _tag: "ActForSubAccount" }>
    const others: ReadonlyArray<TransactionPlan> = [
      planOf({ ...act, inner: [tokens(41n), act.inner[1]!] }),
      planOf({ ...act, inner: [tokens(40n, stranger), act.inner[1]!] }),
      planOf({ ...act, inner: [act.inner[0]!] }),
      planOf({ ...act, inner: act.inner.toReversed() }),
      planOf({ ...act, roleId: 2 }),
      planOf({ ...act, id: new Uint8Array(32).fill(10) }),
      { ...planOf(act), agent: stranger },
      { ...planOf(act), blockhash: keyOf(12).toBase58() },
      planOf(act, act),
      planOf()
    ]
    for (const plan of others) refusal(bytes, plan)
  })

  it("an instruction that nobody planned, before, after or between", async () => {
    const built = await buildStep(agent, steps["act"]!)
    const drain = SystemProgram.transfer({ fromPubkey: agent, toPubkey: stranger, lamports: 1 })
    for (const instructions of [
      [drain, built],
      [built, drain],
      [built, built]
    ]) {
      const message = new TransactionMessage({ payerKey: agent, recentBlockhash: blockhash, instructions })
      assert.match(refusal(message.compileToV0Message().serialize(), planOf(steps["act"]!)), /2 instructions instead/)
    }
  })

  it("a foreign signer, and the agent among the accounts that an act touches, even when they are planned", async () => {
    const act = { _tag: "ActForSubAccount", id, roleId: 1 } as const
    const foreign = createTransferCheckedInstruction(source, mint, destination, stranger, 1n, 6)
    const ofAgent = SystemProgram.transfer({ fromPubkey: agent, toPubkey: stranger, lamports: 1 })
    for (const [inner, words] of [
      [foreign, /is signed by/],
      [ofAgent, /is signed by|has the agent/]
    ] as const) {
      const plan = planOf({ ...act, inner: [inner] })
      assert.match(refusal((await buildMessage(plan)).serialize(), plan), words)
    }
  })

  it("what the packages add by themselves behind a transfer of lamports", async () => {
    const pay = SystemProgram.transfer({ fromPubkey: account, toPubkey: stranger, lamports: 1 })
    const plan = planOf({ _tag: "ActForSubAccount", id, roleId: 1, inner: [pay, tokens(1n)] })
    assert.match(refusal((await buildMessage(plan)).serialize(), plan), /packed instruction 1 has \d+ accounts/)
  })

  it("an account that is there without a use", async () => {
    const built = await buildStep(agent, steps["act"]!)
    const keys = [...built.keys, { pubkey: stranger, isSigner: false, isWritable: true }]
    const padded = new TransactionInstruction({ ...built, keys })
    const message = new TransactionMessage({ payerKey: agent, recentBlockhash: blockhash, instructions: [padded] })
    refusal(message.compileToV0Message().serialize(), planOf(steps["act"]!))
  })

  it("legacy messages", () => {
    const message = new TransactionMessage({ payerKey: agent, recentBlockhash: blockhash, instructions: [] })
    refusal(message.compileToLegacyMessage().serialize(), planOf())
    assert.isTrue(
      Result.isSuccess(
        checkBytes(
          MessageV0.compile({ payerKey: agent, recentBlockhash: blockhash, instructions: [] }).serialize(),
          planOf()
        )
      )
    )
  })
})

describe("the agent's key", () => {
  const seed = Redacted.make(new Uint8Array(32).fill(1))

  it.effect("signs what was planned, and nothing else", () =>
    Effect.gen(function* () {
      const plan = planOf(steps["act"]!)
      const bytes = (yield* Effect.promise(() => buildMessage(plan))).serialize()
      const signature = yield* signPlanned(seed, bytes, plan)
      assert.isTrue(Ed25519.verify(agent.toBytes(), bytes, signature))
      assert.isFalse(Ed25519.verify(stranger.toBytes(), bytes, signature))
      const refused = yield* Effect.flip(signPlanned(seed, bytes, planOf(steps["createSubAccount"]!)))
      assert.match(refused.message, /is not the planned one and is not signed/)
    })
  )
})
