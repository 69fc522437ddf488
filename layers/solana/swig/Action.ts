/** What a role may do. The service gives two permissions, and keeps others as they are. */
import { ByteReader, MalformedBytes } from "#layers/solana/swig/ByteReader.ts"

/**
 * `All` is the root's. `SubAccount` is the agent's: it acts for the one sub-account of its role, and for nothing
 * else of the
 * wallet. The program fills in which one when the sub-account is made.
 */
export type Action =
  | { readonly _tag: "All" }
  | {
      readonly _tag: "SubAccount"
      readonly subAccount: Uint8Array
      readonly bump: number
      readonly isEnabled: boolean
      readonly roleId: number
      readonly walletId: Uint8Array
    }
  /** One that the service does not give: its number and its bytes. */
  | { readonly _tag: "Other"; readonly kind: number; readonly body: Uint8Array }

const all = 7
const subAccount = 9
const headerLength = 8
const subAccountLength = 72
/** Far above what roles have. */
const actionLimit = 64

/** Reads a role's actions. Each begins with its number, its length and where the next one begins. */
export const decodeActions = (bytes: Uint8Array): ReadonlyArray<Action> => {
  const reader = new ByteReader(bytes, "actions")
  const actions: Array<Action> = []
  while (reader.left > 0) {
    if (actions.length === actionLimit) throw new MalformedBytes(`more than ${actionLimit} actions`)
    const kind = reader.u16()
    const length = reader.u16()
    const next = reader.u32()
    const body = new ByteReader(reader.bytes(length), "action")
    if (next !== bytes.length - reader.left) throw new MalformedBytes(`an action has the next one begin at ${next}`)
    actions.push(decodeAction(kind, length, body))
  }
  return actions
}

const decodeAction = (kind: number, length: number, body: ByteReader): Action => {
  if (kind === all && length === 0) return { _tag: "All" }
  if (kind !== subAccount || length !== subAccountLength) return { _tag: "Other", kind, body: body.rest() }
  const address = body.bytes(32)
  const bump = body.u8()
  const isEnabled = body.bool()
  body.padding(2)
  return {
    _tag: "SubAccount",
    subAccount: address,
    bump,
    isEnabled,
    roleId: body.u32(),
    walletId: body.bytes(32)
  }
}

const headOf = (action: Action): readonly [kind: number, length: number] => {
  switch (action._tag) {
    case "All":
      return [all, 0]
    case "SubAccount":
      return [subAccount, subAccountLength]
    case "Other":
      return [action.kind, action.body.length]
  }
}

/** The action in the program's bytes, at its index among others. */
export const encodeAction = (action: Action, offset = 0): Uint8Array => {
  const [kind, length] = headOf(action)
  const bytes = new Uint8Array(headerLength + length)
  const view = new DataView(bytes.buffer)
  view.setUint16(0, kind, true)
  view.setUint16(2, length, true)
  view.setUint32(4, offset + bytes.length, true)
  if (action._tag === "All") return bytes
  if (action._tag === "Other") {
    bytes.set(action.body, headerLength)
    return bytes
  }
  bytes.set(action.subAccount, headerLength)
  view.setUint8(headerLength + 32, action.bump)
  view.setUint8(headerLength + 33, action.isEnabled ? 1 : 0)
  view.setUint32(headerLength + 36, action.roleId, true)
  bytes.set(action.walletId, headerLength + 40)
  return bytes
}

/** What the agent's role is added with: a sub-account that the program will name. */
export const agentAction: Action = {
  _tag: "SubAccount",
  subAccount: new Uint8Array(32),
  bump: 0,
  isEnabled: false,
  roleId: 0,
  walletId: new Uint8Array(32)
}
