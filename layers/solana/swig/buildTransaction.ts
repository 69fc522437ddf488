/**
 * The message of a plan, by the packages of the Swig program. What they write is read again by our own decoder
 * before anything is
 * signed (layers/solana/guard).
 */
import { createAssociatedTokenAccountIdempotentInstruction, getAssociatedTokenAddressSync } from "@solana/spl-token"
import {
  ComputeBudgetProgram,
  type MessageV0,
  PublicKey,
  TransactionInstruction,
  TransactionMessage
} from "@solana/web3.js"
import {
  Actions,
  type CreateAuthorityInfo,
  createEd25519AuthorityInfo,
  createSecp256k1AuthorityInfo,
  createV1SwigInstruction,
  type Ed25519Authority,
  Ed25519Instruction,
  getMockAuthorityFromCreateAuthorityInfo,
  Secp256k1Instruction,
  SolInstruction,
  type SwigInstructionContext
} from "@swig-wallet/lib"
import type { Consent, Step, TransactionPlan } from "#layers/solana/swig/Plan.ts"
import { assertionProgram, subAccount, walletConfig } from "#layers/solana/swig/addresses.ts"
import { personalSignPrefix } from "#layers/solana/swig/signedText.ts"

const instructionOf = (context: SwigInstructionContext): TransactionInstruction => {
  const [instruction] = context.getWeb3Instructions()
  const { data, keys, programId } = instruction!
  return new TransactionInstruction({
    programId: new PublicKey(programId.toBytes()),
    keys: keys.map((key) => ({ ...key, pubkey: new PublicKey(key.pubkey.toBytes()) })),
    data: Buffer.from(data)
  })
}

const authorityInfo = (consent: Consent): CreateAuthorityInfo =>
  consent._tag === "SignsTransaction"
    ? createEd25519AuthorityInfo(consent.key)
    : createSecp256k1AuthorityInfo(consent.publicKey)

const agentAuthority = (agent: PublicKey) =>
  getMockAuthorityFromCreateAuthorityInfo(createEd25519AuthorityInfo(agent)) as Ed25519Authority

const agentActions = () => Actions.set().subAccount().get()

const addAgent = async (agent: PublicKey, { consent, id }: Extract<Step, { readonly _tag: "AddAgent" }>) => {
  const accounts = { swig: walletConfig(id).address, payer: agent }
  const { data: newAuthorityData, type: newAuthorityType } = createEd25519AuthorityInfo(agent)
  const actions = agentActions()
  const args = {
    actingRoleId: 0,
    actions: actions.bytes(),
    noOfActions: actions.count,
    newAuthorityData,
    newAuthorityType
  }
  if (consent._tag === "SignsTransaction") {
    return instructionOf(
      await Ed25519Instruction.addAuthorityV1Instruction(accounts, { ...args, authorityData: consent.key.toBytes() })
    )
  }
  const { odometer, publicKey, signature, slot } = consent
  return instructionOf(
    await Secp256k1Instruction.addAuthorityV1Instruction(
      accounts,
      { ...args, authorityData: publicKey },
      {
        currentSlot: slot,
        odometer,
        payer: agent,
        signingFn: () => Promise.resolve({ signature, prefix: personalSignPrefix })
      }
    )
  )
}

/** The program does nothing when its turn comes, and reads no accounts: the chain has read its data before. */
const tagged = (instruction: TransactionInstruction, tag: PublicKey | undefined): TransactionInstruction => {
  if (tag !== undefined) instruction.keys.push({ pubkey: tag, isSigner: false, isWritable: false })
  return instruction
}

/** The instruction of a step. */
export const buildStep = async (agent: PublicKey, step: Step): Promise<TransactionInstruction> => {
  switch (step._tag) {
    case "LimitUnits":
      return tagged(ComputeBudgetProgram.setComputeUnitLimit({ units: step.units }), step.tag)
    case "PriceUnits":
      return ComputeBudgetProgram.setComputeUnitPrice({ microLamports: step.microLamports })
    case "MakeTokenAccount": {
      const { mint, owner, tokenProgram } = step
      const account = getAssociatedTokenAddressSync(mint, owner, true, tokenProgram)
      return createAssociatedTokenAccountIdempotentInstruction(agent, account, owner, mint, tokenProgram)
    }
    case "CreateWallet": {
      const { data, type } = authorityInfo(step.consent)
      return instructionOf(
        await createV1SwigInstruction(
          { payer: agent },
          { id: step.id, actions: Actions.set().all().get().bytes(), authorityData: data, authorityType: type }
        )
      )
    }
    case "AddAgent":
      return addAgent(agent, step)
    case "CreateSubAccount": {
      const { id, roleId } = step
      const swigAddress = walletConfig(id).address
      return instructionOf(
        await agentAuthority(agent).subAccountCreate({ payer: agent, swigAddress, swigId: id, roleId })
      )
    }
    case "Assert":
      return new TransactionInstruction({
        programId: assertionProgram,
        keys: step.accounts.map((pubkey) => ({ pubkey, isSigner: false, isWritable: false })),
        data: Buffer.from(step.data)
      })
    case "ActForSubAccount": {
      const { id, inner, roleId } = step
      return instructionOf(
        await agentAuthority(agent).subAccountSign({
          payer: agent,
          swigAddress: walletConfig(id).address,
          subAccount: subAccount(id, roleId).address,
          roleId,
          innerInstructions: inner.map((instruction) => SolInstruction.from(instruction))
        })
      )
    }
  }
}

/** The message of the plan, not signed. */
export const buildMessage = async ({ agent, blockhash, lookupTables, steps }: TransactionPlan): Promise<MessageV0> => {
  const instructions: Array<TransactionInstruction> = []
  for (const step of steps) instructions.push(await buildStep(agent, step))
  return new TransactionMessage({ payerKey: agent, recentBlockhash: blockhash, instructions }).compileToV0Message([
    ...lookupTables
  ])
}
