# What the launcher of the agents' hook does before it starts Python: `connect` names its path in `$hook`.
# It ends the hook where there is nothing to say, and returns where Python has to decide. POSIX, and `-nt`.
case "$1 $2" in
"claude PostToolUse"* | "codex PostToolUse") # of settings that an earlier version wrote: the transcript tells all of it
  cat >/dev/null 2>&1 && exit 0
  ;;
cline*) ;; # gets its context before a tool
*" PreToolUse" | *" AfterTool")
  # Most calls concern no guard, and a shell sees that in a tenth of the time that Python needs to start: the clues are
  # words one of which an event must hold to concern any. They count if nothing changed since they were written.
  top=$PWD
  while [ "$top" ] && [ ! -e "$top/.git" ]; do top=${top%/*}; done
  git=$top/.git
  if [ -f "$git" ]; then
    read -r _ git <"$git"
    case $git in /*) ;; *) git=$top/$git ;; esac
  fi
  common=${git%/worktrees/*} tree=main
  [ "$common" = "$git" ] || tree=tree-${git##*/}
  store=$common/holdfast
  clues=$store/inbox/clues-$tree
  if [ -f "$clues" ]; then
    concerned=
    for fact in "$git/HEAD" "$git/logs/HEAD" "$common/config" "$common/packed-refs" "$common/refs/remotes"/* \
      "$top/.holdfast/holdfast.toml" "$top/.holdfast/local" "$store/guards" "$store/pending" "$store/sealed" "$store/lines" \
      "$store/erased" "$store/trusted" "$store/settings.toml" "$store/inbox/git.log"; do
      [ "$fact" -nt "$clues" ] && concerned=changed
    done
    if [ ! "$concerned" ] && given=$(cat 2>/dev/null); then
      while read -r clue; do
        case $given in *"$clue"*) concerned=$clue. ;; esac
      done <"$clues"
      [ "$concerned" ] || exit 0
      printf %s "$given" | "$python" -I -S "$hook" "$@"
      exit 0
    fi
  fi
  ;;
esac
