# Gives the user slurm (uid $1, gid $2) a copy of what is mounted: an image whose sackd is started
# as that user could not read root's files.
set -e
for file in /mnt/slurm/*; do
    [ -f "$file" ] || continue
    copy=/mnt/etc/slurm/${file##*/}
    cp -L "$file" "$copy"
    chown "$1:$2" "$copy"
    case $copy in *.conf) chmod 644 "$copy" ;; *) chmod 600 "$copy" ;; esac
done
