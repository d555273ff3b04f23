-- rtolab: the findings of `rtolab diagnose --annotate FILE` as fields of Wireshark.
-- `rtolab wireshark --install` writes this file, and replaces it.

local rtolab = Proto("rtolab", "rtolab")

local verdict = ProtoField.string("rtolab.verdict", "Verdict", base.ASCII,
    "Was the retransmission needed? needed, unneeded or unknown")
local trigger = ProtoField.string("rtolab.trigger", "Trigger", base.ASCII,
    "Why the sender retransmitted: timeout, tlp, fast and others")
local confidence = ProtoField.double("rtolab.confidence", "Confidence", base.NONE,
    "The probability that the verdict is right")
local evidence = ProtoField.string("rtolab.evidence", "Evidence", base.ASCII,
    "Evidence for the verdict")
local evidence_frame = ProtoField.framenum("rtolab.evidence.frame", "Shown by", base.NONE,
    frametype.NONE, 0, "The frame that shows the evidence")
local against = ProtoField.string("rtolab.against", "Against", base.ASCII,
    "Evidence against the verdict")
local against_frame = ProtoField.framenum("rtolab.against.frame", "Shown by", base.NONE,
    frametype.NONE, 0, "The frame that shows the evidence against the verdict")
local timeout = ProtoField.string("rtolab.timeout", "Timeout", base.ASCII,
    "The class of the timeout: spurious, ack-lost, genuine or unknown")
local episode = ProtoField.uint32("rtolab.episode", "Episode", base.DEC, nil, 0,
    "The number of the episode in this capture, from 1")
local cost = ProtoField.double("rtolab.cost", "Cost (s)", base.NONE,
    "The time that the episode cost in s, at its first frame")
local finding = ProtoField.string("rtolab.finding", "Finding", base.ASCII,
    "A departure of the sender from the standards")
local description = ProtoField.string("rtolab.description", "Description", base.UNICODE,
    "What happened in the episode, at its first frame")

rtolab.fields = {
    verdict, trigger, confidence, evidence, evidence_frame, against, against_frame,
    timeout, episode, cost, finding, description,
}

local unneeded = ProtoExpert.new("rtolab.unneeded", "Unneeded retransmission",
    expert.group.SEQUENCE, expert.severity.WARN)
local spurious = ProtoExpert.new("rtolab.spurious", "Spurious timeout",
    expert.group.SEQUENCE, expert.severity.WARN)
rtolab.experts = { unneeded, spurious }

local texts = {
    verdict = verdict, trigger = trigger, timeout = timeout, finding = finding,
}
local numbers = { confidence = confidence, episode = episode, cost = cost }
local kinds = {
    evidence = { kind = evidence, frame = evidence_frame },
    against = { kind = against, frame = against_frame },
}

local comment = Field.new("frame.comment")

-- The last comment of rtolab on this packet: a copy may have been annotated again.
local function last_comment()
    local found
    for _, one in ipairs({ comment() }) do
        found = tostring(one.value):match("^rtolab: (.*)$") or found
    end
    return found
end

local function add(tree, key, value)
    if kinds[key] then
        for kind, frame in value:gmatch("([%w-]+) %(frame (%d+)%)") do
            local item = tree:add(kinds[key].kind, kind):set_generated()
            item:add(kinds[key].frame, tonumber(frame)):set_generated()
        end
    elseif texts[key] then
        local item = tree:add(texts[key], value):set_generated()
        if key == "verdict" and value == "unneeded" then
            item:add_proto_expert_info(unneeded)
        elseif key == "timeout" and value == "spurious" then
            item:add_proto_expert_info(spurious)
        end
    elseif numbers[key] then
        tree:add(numbers[key], tonumber(value:match("^-?[%d.]+"))):set_generated()
    end
end

-- "verdict unneeded; trigger timeout; ...; cost 3.000 s. Nothing came back for ..."
function rtolab.dissector(_, _, tree)
    local said = last_comment()
    if not said then
        return
    end
    local facts, text = said:match("^(.-)%. (.*)$")
    local subtree = tree:add(rtolab, "rtolab: " .. (facts or said)):set_generated()
    for key, value in (facts or said):gmatch("(%l+) ([^;]+)") do
        add(subtree, key, value)
    end
    if text then
        subtree:add(description, text):set_generated()
    end
end

register_postdissector(rtolab)
