/** What owners' wallets sign for a text: the forms of software wallets and of a Ledger, as @solana/kit writes them. */
import { assert, describe, it } from "@effect/vitest"
import {
  type Address,
  getOffchainMessageV0Encoder,
  getOffchainMessageV1Encoder,
  type OffchainMessageV0,
  type OffchainMessageV1
} from "@solana/kit"
import { Keypair } from "@solana/web3.js"
import { Effect } from "effect"
import * as Base58 from "#domain/values/Base58.ts"
import * as Ed25519 from "#layers/solana/ed25519.ts"
import { isSignedByOwner } from "#layers/solana/withdrawal/isSignedByOwner.ts"

const owner = Keypair.generate()
const address = owner.publicKey.toBase58() as Address
const text = "Ballast withdrawal\nPortfolio: one\nAmount: 1"
const nobody = "11111111111111111111111111111111"
const requiredSignatories = [{ address }]

const ofVersion0 = (content: { readonly format: number; readonly text: string }, applicationDomain = nobody) =>
  Uint8Array.from(
    getOffchainMessageV0Encoder().encode({
      version: 0,
      applicationDomain,
      requiredSignatories,
      content
    } as unknown as OffchainMessageV0)
  )
const ofVersion1 = (content: string, signatories = requiredSignatories) =>
  Uint8Array.from(
    getOffchainMessageV1Encoder().encode({
      version: 1,
      requiredSignatories: signatories,
      content
    } as unknown as OffchainMessageV1)
  )

const isTaken = (signed: Uint8Array, by = owner) =>
  isSignedByOwner(
    { _tag: "Solana", key: owner.publicKey },
    text,
    Base58.encode(Ed25519.sign(by.secretKey.slice(0, 32), signed))
  )

const older = Uint8Array.from([
  0xff,
  ...new TextEncoder().encode("solana offchain"),
  0,
  1,
  text.length,
  0,
  ...new TextEncoder().encode(text)
])

describe("a text that an owner signs", () => {
  it.effect.each([
    ["as it is", new TextEncoder().encode(text)],
    ["as an off-chain message of version 0", ofVersion0({ format: 1, text })],
    ["with the older header of version 0", older],
    ["as an off-chain message of version 1", ofVersion1(text)]
  ] as const)("is signed %s", ([, signed]) => Effect.map(isTaken(signed), (taken) => assert.isTrue(taken)))

  const other = Keypair.generate()
  it.effect.each([
    ["another text", ofVersion1(`${text}0`), owner],
    ["another text of version 0", ofVersion0({ format: 1, text: `${text}0` }), owner],
    ["for an application that is not named", ofVersion0({ format: 1, text }, address), owner],
    ["by somebody else", ofVersion1(text), other],
    [
      "together with somebody else",
      ofVersion1(text, [...requiredSignatories, { address: other.publicKey.toBase58() as Address }]),
      owner
    ]
  ] as const)("is not signed by a signature over %s", ([, signed, by]) =>
    Effect.map(isTaken(signed, by), (taken) => assert.isFalse(taken))
  )
})
