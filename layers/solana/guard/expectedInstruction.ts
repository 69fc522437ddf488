/**
 * The bytes of a step of a plan, by our own reading of the programs. Nothing here uses the packages that build them.
 */
import { type AccountMeta, ComputeBudgetProgram, type PublicKey, SystemProgram } from "@solana/web3.js"
import type { Consent, Step } from "#layers/solana/swig/Plan.ts"
import { agentAction } from "#layers/solana/swig/Action.ts"
import type { Authority, Proof } from "#layers/solana/swig/Authority.ts"
import { assertionProgram, rootHoldings, subAccount, swigProgram, walletConfig } from "#layers/solana/swig/addresses.ts"
import { personalSignPrefix } from "#layers/solana/swig/signedText.ts"
import type { SwigInstruction } from "#layers/solana/swig/SwigInstruction.ts"
import { associatedAccount, associatedTokenProgram } from "#layers/solana/token/programs.ts"

/**
 * An instruction of the Swig program without what the decoder adds to it, and with packed instructions left to be
 * compared.
 */
type SwigContent = {
  [Tag in SwigInstruction["_tag"]]: Omit<Extract<SwigInstruction, { readonly _tag: Tag }>, "signed" | "inner">
}[SwigInstruction["_tag"]]

export interface Expected {
  readonly programId: PublicKey
  /** The accounts in their order; those of packed instructions follow. */
  readonly accounts: ReadonlyArray<AccountMeta>
  readonly content: { readonly _tag: "Bytes"; readonly data: Uint8Array } | SwigContent
}

const createIdempotent = 1
const setUnitLimit = 2
const setUnitPrice = 3

const payer = (pubkey: PublicKey): AccountMeta => ({ pubkey, isSigner: true, isWritable: true })
const signer = (pubkey: PublicKey): AccountMeta => ({ pubkey, isSigner: true, isWritable: false })
const writable = (pubkey: PublicKey): AccountMeta => ({ pubkey, isSigner: false, isWritable: true })
const readable = (pubkey: PublicKey): AccountMeta => ({ pubkey, isSigner: false, isWritable: false })

const bytesOf = (number: number, write: (view: DataView) => void, length: number) => {
  const data = new Uint8Array(1 + length)
  data[0] = number
  write(new DataView(data.buffer, 1))
  return { _tag: "Bytes" as const, data }
}

const authorityOf = (consent: Consent): Authority =>
  consent._tag === "SignsTransaction"
    ? { _tag: "Ed25519", key: consent.key }
    : { _tag: "Secp256k1", key: consent.publicKey }

const proofOf = (consent: Consent, index: number): Proof => {
  if (consent._tag === "SignsTransaction") return { _tag: "Signer", index }
  const { odometer, signature, slot } = consent
  return { _tag: "PersonalSignature", slot, odometer, signature, prefix: personalSignPrefix }
}

const swig = (accounts: ReadonlyArray<AccountMeta>, content: SwigContent): Expected => ({
  programId: swigProgram,
  accounts,
  content
})

/** The instruction that a step must be. */
export const expectedInstruction = (agent: PublicKey, step: Step): Expected => {
  switch (step._tag) {
    case "LimitUnits": {
      const content = bytesOf(setUnitLimit, (view) => view.setUint32(0, step.units, true), 4)
      const accounts = step.tag === undefined ? [] : [readable(step.tag)]
      return { programId: ComputeBudgetProgram.programId, accounts, content }
    }
    case "PriceUnits": {
      const content = bytesOf(setUnitPrice, (view) => view.setBigUint64(0, step.microLamports, true), 8)
      return { programId: ComputeBudgetProgram.programId, accounts: [], content }
    }
    case "MakeTokenAccount": {
      const { mint, owner, tokenProgram } = step
      const account = associatedAccount(owner, mint, tokenProgram)
      return {
        programId: associatedTokenProgram,
        accounts: [
          payer(agent),
          writable(account),
          ...[owner, mint, SystemProgram.programId, tokenProgram].map((key) => readable(key))
        ],
        content: { _tag: "Bytes", data: Uint8Array.of(createIdempotent) }
      }
    }
    case "Assert": {
      const { accounts, data } = step
      return {
        programId: assertionProgram,
        accounts: accounts.map((key) => readable(key)),
        content: { _tag: "Bytes", data }
      }
    }
    case "CreateWallet": {
      const { address: config, bump } = walletConfig(step.id)
      const holdings = rootHoldings(config)
      return swig([writable(config), payer(agent), writable(holdings.address), readable(SystemProgram.programId)], {
        _tag: "CreateWallet",
        id: step.id,
        bump,
        holdingsBump: holdings.bump,
        authority: authorityOf(step.consent),
        actions: [{ _tag: "All" }]
      })
    }
    case "AddAgent": {
      const accounts = [writable(walletConfig(step.id).address), payer(agent), readable(SystemProgram.programId)]
      const owner = step.consent._tag === "SignsTransaction" ? [signer(step.consent.key)] : []
      return swig([...accounts, ...owner], {
        _tag: "AddAuthority",
        actingRole: 0,
        authority: { _tag: "Ed25519", key: agent },
        actions: [agentAction],
        proof: proofOf(step.consent, accounts.length)
      })
    }
    case "CreateSubAccount": {
      const { address, bump } = subAccount(step.id, step.roleId)
      const accounts = [
        writable(walletConfig(step.id).address),
        payer(agent),
        writable(address),
        readable(SystemProgram.programId),
        signer(agent)
      ]
      return swig(accounts, {
        _tag: "CreateSubAccount",
        roleId: step.roleId,
        bump,
        proof: { _tag: "Signer", index: accounts.length - 1 }
      })
    }
    case "ActForSubAccount": {
      const accounts = [
        writable(walletConfig(step.id).address),
        writable(subAccount(step.id, step.roleId).address),
        readable(SystemProgram.programId),
        signer(agent)
      ]
      return swig(accounts, {
        _tag: "SignForSubAccount",
        roleId: step.roleId,
        proof: { _tag: "Signer", index: accounts.length - 1 }
      })
    }
  }
}
