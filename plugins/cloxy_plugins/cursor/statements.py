"""What is asked of the editor's databases.

Values are never selected whole: a conversation's value holds keys of encryption, and the settings
hold tokens. Only named fields are, and only of ranges of keys, which the unique index serves.
Rows that are no JSON have the field `sound` 0 and no others.
"""

_LIMIT = 32_000_000

COMPOSERS = """
    SELECT substr(key, 14), number, length(v), sound,
           CASE WHEN sound THEN json_extract(v, '$.lastUpdatedAt') END,
           CASE WHEN sound THEN json_extract(v, '$.createdAt') END,
           CASE WHEN sound THEN json_array_length(v, '$.fullConversationHeadersOnly') END,
           CASE WHEN sound THEN json_array_length(v, '$.conversation') END,
           CASE WHEN sound THEN json_extract(v, '$.subagentComposerIds') END,
           CASE WHEN sound THEN json_extract(v, '$.subagentInfo.parentComposerId') END
    FROM (SELECT key, rowid AS number, CAST(value AS TEXT) AS v,
                 json_valid(CAST(value AS TEXT)) AS sound
          FROM cursorDiskKV WHERE key >= 'composerData:' AND key < 'composerData;')
"""
BUBBLE_COUNTS = """
    SELECT substr(key, 10, instr(substr(key, 10), ':') - 1), count(*), max(rowid)
    FROM cursorDiskKV WHERE key >= 'bubbleId:' AND key < 'bubbleId;' GROUP BY 1
"""
COMPOSER = """
    SELECT sound,
           CASE WHEN sound THEN json_extract(v, '$.name') END,
           CASE WHEN sound THEN json_extract(v, '$.createdAt') END,
           CASE WHEN sound THEN json_type(v, '$.fullConversationHeadersOnly') END,
           CASE WHEN sound THEN json_extract(v, '$.workspaceIdentifier') END,
           CASE WHEN sound THEN json_extract(v, '$.modelConfig.modelName') END
    FROM (SELECT CAST(value AS TEXT) AS v, json_valid(CAST(value AS TEXT)) AS sound
          FROM cursorDiskKV WHERE key = ?)
"""
# The order of a conversation: ids of its messages.
ORDER = """
    SELECT json_extract(head.value, '$.bubbleId')
    FROM cursorDiskKV, json_each(CAST(cursorDiskKV.value AS TEXT), '$.fullConversationHeadersOnly')
         AS head
    WHERE cursorDiskKV.key = ? AND head.type = 'object'
"""
_FIELDS = """
           json_extract({v}, '$.type'),
           CASE WHEN json_type({v}, '$.text') = 'text' THEN json_extract({v}, '$.text') END,
           json_extract({v}, '$.createdAt'),
           coalesce(json_extract({v}, '$.timingInfo.clientStartTime'),
                    json_extract({v}, '$.timingInfo.clientRpcSendTime')),
           json_extract({v}, '$.modelInfo.modelName'),
           (SELECT json_group_array(coalesce(json_extract(i.value, '$.path'),
                                             json_extract(i.value, '$.filename'),
                                             json_extract(i.value, '$.uuid')))
            FROM json_each({v}, '$.images') AS i WHERE i.type = 'object'),
           (SELECT json_group_array(coalesce(json_extract(i.value, '$.path'),
                                             json_extract(i.value, '$.filename'),
                                             json_extract(i.value, '$.uuid')))
            FROM json_each({v}, '$.context.selectedImages') AS i WHERE i.type = 'object')
"""
# Messages that are rows of their own; `substr` begins behind the key of the conversation.
BUBBLES = f"""
    SELECT id, 1, {_FIELDS.format(v="v")}
    FROM (SELECT substr(key, ?) AS id, CAST(value AS TEXT) AS v
          FROM cursorDiskKV WHERE key >= ? AND key < ?
          AND length(value) < {_LIMIT} AND json_valid(CAST(value AS TEXT)))
"""  # noqa: S608 - of constants
BUBBLE_IDS = """
    SELECT substr(key, ?), value IS NULL FROM cursorDiskKV WHERE key >= ? AND key < ? ORDER BY rowid
"""
# Messages within the conversation, as until 2025.
INLINE = f"""
    SELECT json_extract(m.value, '$.bubbleId'), 1, {_FIELDS.format(v="m.value")}
    FROM cursorDiskKV, json_each(CAST(cursorDiskKV.value AS TEXT), '$.conversation') AS m
    WHERE cursorDiskKV.key = ? AND m.type = 'object'
"""  # noqa: S608 - of constants
HEADERS = """
    SELECT json_extract(e.value, '$.composerId'), json_extract(e.value, '$.workspaceIdentifier'),
           NULL, json_extract(e.value, '$.name'), NULL
    FROM ItemTable, json_each(CASE WHEN json_valid(CAST(ItemTable.value AS TEXT))
         THEN CAST(ItemTable.value AS TEXT) ELSE '{}' END, '$.allComposers') AS e
    WHERE ItemTable.key = 'composer.composerHeaders' AND e.type = 'object'
"""
HEADER_ROWS = """
    SELECT composerId,
           CASE WHEN json_valid(value) THEN json_extract(value, '$.workspaceIdentifier') END,
           {workspace},
           CASE WHEN json_valid(value) THEN json_extract(value, '$.name') END,
           CASE WHEN json_valid(value) THEN json_extract(value, '$.subagentInfo.parentComposerId')
           END
    FROM composerHeaders ORDER BY composerId
"""
LISTED = """
    SELECT coalesce(json_extract(e.value, '$.composerId'), ''), json_extract(e.value, '$.name')
    FROM ItemTable, json_each(CASE WHEN json_valid(CAST(ItemTable.value AS TEXT))
         THEN CAST(ItemTable.value AS TEXT) ELSE '{}' END, '$.allComposers') AS e
    WHERE ItemTable.key = 'composer.composerData' AND e.type = 'object'
"""
SELECTED = """
    SELECT e.value
    FROM ItemTable, json_each(CASE WHEN json_valid(CAST(ItemTable.value AS TEXT))
         THEN CAST(ItemTable.value AS TEXT) ELSE '{}' END, '$.selectedComposerIds') AS e
    WHERE ItemTable.key = 'composer.composerData' AND e.type = 'text'
"""
_PANES = """ItemTable, json_each(CASE WHEN json_valid(CAST(ItemTable.value AS TEXT))
         THEN CAST(ItemTable.value AS TEXT) ELSE '{}' END, '$.tabs') AS t"""
_PANE_KEY = "ItemTable.key = 'workbench.panel.aichat.view.aichat.chatdata' AND t.type = 'object'"
PANES = f"""
    SELECT json_extract(t.value, '$.tabId'), json_extract(t.value, '$.lastSendTime'),
           json_array_length(t.value, '$.bubbles'), length(t.value),
           json_extract(t.value, '$.chatTitle')
    FROM {_PANES} WHERE {_PANE_KEY}
"""  # noqa: S608 - of constants
PANE = f"""
    SELECT json_extract(b.value, '$.id'), 1, json_extract(b.value, '$.type'),
           coalesce(nullif(CASE WHEN json_type(b.value, '$.rawText') = 'text'
                           THEN json_extract(b.value, '$.rawText') END, ''),
                    CASE WHEN json_type(b.value, '$.text') = 'text'
                    THEN json_extract(b.value, '$.text') END),
           NULL, NULL, json_extract(b.value, '$.modelType'), NULL, NULL
    FROM {_PANES}, json_each(t.value, '$.bubbles') AS b
    WHERE {_PANE_KEY} AND json_extract(t.value, '$.tabId') = ? AND b.type = 'object'
"""  # noqa: S608 - of constants
DAMAGED_PANE = """
    SELECT count(*) FROM ItemTable
    WHERE key = 'workbench.panel.aichat.view.aichat.chatdata'
    AND (value IS NULL OR NOT json_valid(CAST(value AS TEXT)))
"""
