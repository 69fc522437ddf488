/**
 * Our own reading of the Swig program's instruction data, independent of the packages that write it.
 *
 * Source: the program's `instruction.rs` and `actions/`, compared with what the packages write by golden vectors
 * (test/layers/solana/golden).
 */
import { type Action, decodeActions } from "#layers/solana/swig/Action.ts"
import { type Authority, decodeAuthority, decodeProof, type Proof } from "#layers/solana/swig/Authority.ts"
import { ByteReader, MalformedBytes } from "#layers/solana/swig/ByteReader.ts"

/** An instruction inside another: indexes among the outer instruction's accounts. */
export interface PackedInstruction {
  readonly program: number
  readonly accounts: ReadonlyArray<number>
  readonly data: Uint8Array
}

/** `signed` is the part of the data that an owner's personal signature covers. */
export type SwigInstruction =
  | {
      readonly _tag: "CreateWallet"
      readonly id: Uint8Array
      readonly bump: number
      readonly holdingsBump: number
      readonly authority: Authority
      readonly actions: ReadonlyArray<Action>
    }
  | {
      readonly _tag: "AddAuthority"
      readonly actingRole: number
      readonly authority: Authority
      readonly actions: ReadonlyArray<Action>
      readonly proof: Proof
      readonly signed: Uint8Array
    }
  | {
      readonly _tag: "RemoveAuthority"
      readonly actingRole: number
      readonly removedRole: number
      readonly proof: Proof
      readonly signed: Uint8Array
    }
  | {
      readonly _tag: "ReplaceAuthority"
      readonly actingRole: number
      readonly replacedRole: number
      /** Key of the kind that the role's holder has. */
      readonly key: Uint8Array
      readonly proof: Proof
      readonly signed: Uint8Array
    }
  | {
      readonly _tag: "CreateSubAccount"
      readonly roleId: number
      readonly bump: number
      readonly proof: Proof
      readonly signed: Uint8Array
    }
  | {
      readonly _tag: "WithdrawFromSubAccount"
      readonly roleId: number
      readonly amount: bigint
      readonly proof: Proof
      readonly signed: Uint8Array
    }
  | {
      readonly _tag: "SignForSubAccount"
      readonly roleId: number
      readonly inner: ReadonlyArray<PackedInstruction>
      readonly proof: Proof
      readonly signed: Uint8Array
    }
  | {
      readonly _tag: "SignForRoot"
      readonly roleId: number
      readonly inner: ReadonlyArray<PackedInstruction>
      readonly proof: Proof
      readonly signed: Uint8Array
    }
  | {
      readonly _tag: "ToggleSubAccount"
      readonly isEnabled: boolean
      readonly subAccountRole: number
      readonly actingRole: number
      readonly proof: Proof
      readonly signed: Uint8Array
    }

/**
 * Reads the data of an instruction of the Swig program; throws `MalformedBytes` for whatever we neither build nor
 * expect.
 */
export const decodeSwigInstruction = (data: Uint8Array): SwigInstruction => {
  const reader = new ByteReader(data, "Swig instruction")
  const number = reader.u16()
  const read = readers[number]
  if (read === undefined) throw new MalformedBytes(`Swig instruction ${number} is not one that we use`)
  return read(reader, data)
}

/** The proof is what is left; the part before it is what a personal signature covers. */
const proven = (reader: ByteReader, data: Uint8Array) => {
  const signed = data.slice(0, data.length - reader.left)
  return { proof: decodeProof(reader.rest()), signed }
}

type Read = (reader: ByteReader, data: Uint8Array) => SwigInstruction

const createWallet: Read = (reader) => {
  const kind = reader.u16()
  const keyLength = reader.u16()
  const bump = reader.u8()
  const holdingsBump = reader.u8()
  const id = reader.bytes(32)
  const authority = decodeAuthority(kind, reader.bytes(keyLength))
  return { _tag: "CreateWallet", id, bump, holdingsBump, authority, actions: decodeActions(reader.rest()) }
}

const addAuthority: Read = (reader, data) => {
  const keyLength = reader.u16()
  const actionsLength = reader.u16()
  const kind = reader.u16()
  const count = reader.u8()
  reader.padding(3)
  const actingRole = reader.u32()
  const authority = decodeAuthority(kind, reader.bytes(keyLength))
  const actions = decodeActions(reader.bytes(actionsLength))
  if (actions.length !== count) throw new MalformedBytes(`${count} actions are announced, ${actions.length} follow`)
  return { _tag: "AddAuthority", actingRole, authority, actions, ...proven(reader, data) }
}

const removeAuthority: Read = (reader, data) => {
  const proofLength = reader.u16()
  reader.padding(4)
  const actingRole = reader.u32()
  const removedRole = reader.u32()
  if (proofLength !== reader.left) throw new MalformedBytes(`a proof of ${proofLength} bytes is announced`)
  return { _tag: "RemoveAuthority", actingRole, removedRole, ...proven(reader, data) }
}

const replaceAuthority: Read = (reader, data) => {
  reader.padding(2)
  const actingRole = reader.u32()
  const replacedRole = reader.u32()
  const keyLength = reader.u16()
  reader.padding(2)
  const key = reader.bytes(keyLength)
  return { _tag: "ReplaceAuthority", actingRole, replacedRole, key, ...proven(reader, data) }
}

const createSubAccount: Read = (reader, data) => {
  reader.padding(2)
  const roleId = reader.u32()
  const bump = reader.u8()
  reader.padding(7)
  return { _tag: "CreateSubAccount", roleId, bump, ...proven(reader, data) }
}

const withdraw: Read = (reader, data) => {
  reader.padding(2)
  const roleId = reader.u32()
  const amount = reader.u64()
  return { _tag: "WithdrawFromSubAccount", roleId, amount, ...proven(reader, data) }
}

const sign =
  (_tag: "SignForSubAccount" | "SignForRoot", padding: number): Read =>
  (reader, data) => {
    const length = reader.u16()
    const roleId = reader.u32()
    reader.padding(padding)
    const packed = reader.bytes(length)
    const { proof } = proven(reader, data)
    return { _tag, roleId, inner: decodePacked(packed), proof, signed: packed }
  }

const decodePacked = (bytes: Uint8Array): ReadonlyArray<PackedInstruction> => {
  const reader = new ByteReader(bytes, "packed instructions")
  const inner = Array.from({ length: reader.u8() }, (): PackedInstruction => {
    const program = reader.u8()
    const accounts = [...reader.bytes(reader.u8())]
    return { program, accounts, data: reader.bytes(reader.u16()) }
  })
  reader.end()
  return inner
}

const toggle: Read = (reader, data) => {
  const isEnabled = reader.bool()
  reader.padding(5)
  const subAccountRole = reader.u32()
  const actingRole = reader.u32()
  return { _tag: "ToggleSubAccount", isEnabled, subAccountRole, actingRole, ...proven(reader, data) }
}

const readers: Readonly<Record<number, Read>> = {
  0: createWallet,
  1: addAuthority,
  2: removeAuthority,
  6: createSubAccount,
  7: withdraw,
  9: sign("SignForSubAccount", 8),
  10: toggle,
  11: sign("SignForRoot", 0),
  16: replaceAuthority
}

/** Numbers of the instructions that are read here. */
export const instructionNumbers: ReadonlySet<number> = new Set(Object.keys(readers).map(Number))
