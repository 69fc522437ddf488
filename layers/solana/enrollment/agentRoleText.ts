/**
 * What an EVM owner signs so that the agent gets a role in the owner's Solana wallet: the payload that clients build
 * from the wallet's account, the agent's and a slot. It is written here without the packages, and compared with theirs.
 */
import { type PublicKey, SystemProgram } from "@solana/web3.js"
import { agentAction, encodeAction } from "#layers/solana/swig/Action.ts"
import { signedText } from "#layers/solana/swig/signedText.ts"

const addAuthority = 1
const ed25519 = 1
const headLength = 16

/** The text of 64 hexadecimal characters for `personal_sign`. The agent pays, so it is the payer among the accounts. */
export const agentRoleText = ({
  agent,
  odometer,
  slot,
  wallet
}: {
  readonly agent: PublicKey
  readonly wallet: PublicKey
  readonly slot: bigint
  readonly odometer: number
}): string => {
  const actions = encodeAction(agentAction)
  const head = new Uint8Array(headLength)
  const view = new DataView(head.buffer)
  view.setUint16(0, addAuthority, true)
  view.setUint16(2, agent.toBytes().length, true)
  view.setUint16(4, actions.length, true)
  view.setUint16(6, ed25519, true)
  view.setUint8(8, 1)
  return signedText({
    signed: Uint8Array.from([...head, ...agent.toBytes(), ...actions]),
    accounts: [
      { pubkey: wallet, isSigner: false, isWritable: true },
      { pubkey: agent, isSigner: true, isWritable: true },
      { pubkey: SystemProgram.programId, isSigner: false, isWritable: false }
    ],
    slot,
    odometer
  })
}
