package losses

import "strings"

// table says what tools take away for good, as their manuals have it: a
// line has the names of a tool, its options that take a value or the name of a set
// of them (after ^ where its entries hold for the first words alone), the domain, and what it does, between semicolons. An entry is what that is called after @, the
// words of a command, options of which one must be there, and after ! those
// with which nothing happens. Words are as those of shRule are. The first
// letter of an entry may say that it is no deletion: + writes, % runs, ^ gives
// rights, $ prints a credential, ? does nothing. What no entry names is for the
// lexicon, but for tools with - before their domain.
const table = `
terraform tofu terragrunt|tf|cloud|$ state pull;@destroy destroy;$ output *password*|*secret*|*token*|*key*;@destroy apply -destroy --destroy -replace --replace;@destroy run-all destroy;@destroy run-all apply -auto-approve --auto-approve --terragrunt-non-interactive --non-interactive;@state-remove state rm|push !-dry-run;@workspace-delete workspace delete -force;force-unlock;? fmt|plan|validate|output|providers|state|init
pulumi|stack|cloud|@destroy destroy|down !--preview-only;@stack-remove stack rm;$ config|stack|output * --show-secrets;$ config get;stack|env rm;cancel;@destroy up|update --skip-preview -f;refresh --clear-pending-creates;state delete|unprotect;destroy|down;? logout|plugin|about
eksctl kops k3d kind minikube|stack|cloud|@delete-cluster delete
aws||cloud|@bucket-delete s3 rb;@objects-delete s3 rm --recursive;@object-delete s3 rm;@objects-delete s3 sync --delete;$ secretsmanager|ssm get-secret-value|get-parameter;@delete * stop-logging|stop-configuration-recorder|leave-organization|disassociate-*|detach-*|delete-*|terminate-*|purge-*|destroy-*|deregister-*|remove-*|revoke-*|release-address|schedule-key-deletion;$ configure export-credentials;$ configure get *secret*|*key*|*token*;$ secretsmanager|ssm get-secret-value|get-parameter|get-parameters|get-parameters-by-path|batch-get-secret-value;$ ecr|ecr-public|codeartifact get-login-password|get-login|get-authorization-token;$ sts get-session-token|assume-role|get-federation-token;$ iam create-access-key;? configure|sts|help;* delete-*|terminate-*|purge-*|destroy-*|deregister-*|remove-*|revoke-*|release-address|schedule-key-deletion|reset-*|disable-*|detach-*|batch-delete-*|empty-*;* admin-delete-*|close-account|cancel-*;route53 change-resource-record-sets * *DELETE*;route53 change-resource-record-sets *DELETE*;ec2|rds|redshift stop-*|reboot-*;iam update-access-key;* --no-deletion-protection --no-disable-api-termination;s3api put-bucket-versioning * *Suspended*;s3api put-bucket-versioning *Suspended*;s3api put-bucket-lifecycle*;ecs update-service --desired-count=0;autoscaling * --desired-capacity=0
bq||cloud|@delete rm;rm;query <>;cp|load -f --replace
s3cmd s5cmd mc||-cloud|@objects-delete rb|del|rm|rmdir|--recursive
rclone||-cloud|$ config show|dump|redacted !--help;@objects-delete purge|delete|deletefile|sync|cleanup|cleanup-hidden !-n !-i !--interactive
heroku||platform|@app-delete apps:destroy|apps:delete|destroy|addons:destroy|pg:reset|domains:clear;ps:scale web=0|*=0;maintenance:on;releases:rollback|rollback;pg:reset|pg:kill*|apps:destroy;config:unset;pg:copy|pg:restore|pg:backups:restore;$ auth:token|config|config:get;?logs|container:rm
vercel now||platform|@app-delete rm|remove;@app-delete project|projects rm|remove;$ env pull;env|alias|domains|dns|certs|secrets|blob rm|remove|del;rollback
fly flyctl||platform|@app-delete apps|app|volumes|volume|machine|machines|postgres destroy|delete;@app-delete destroy;scale count 0;?logs|releases
vault||platform|@secret-delete kv delete|destroy;@secret-delete kv metadata delete;@secret-delete delete;@secret-delete secrets|auth disable;secrets|auth|audit disable
consul|tf|platform|@data-delete kv delete;leave|force-leave;snapshot restore
nomad|tf|platform|@job-purge job stop -purge;@job-purge system gc;job stop -purge;system gc;node drain|purge;namespace|volume|var|acl delete|purge|deregister;stop -purge;$ var get
etcdctl||database|@keys-delete del
gh|gh|platform|@repository-delete repo delete;+@repository-archive repo archive;@delete release|secret|variable|label|ssh-key|gpg-key|codespace|cs|cache|gist|environment|ruleset|deploy-key delete|remove;@delete repo deploy-key delete;@delete issue delete;$ auth token;@api-delete api *transfer|*/archive;+@public api *collaborators*|*memberships*|*/keys|*/hooks -f -F --field --raw-field -X=PUT -X=POST --method=PUT --method=POST;+@public api -f=visibility=public -F=private=false -f=private=false --field=visibility=public;@repository-archive api -F=archived=true -f=archived=true;@repository-delete repo rename|transfer;+@public repo edit --visibility=public;+@public repo deploy-key add -w --allow-write;@delete run delete;+@public pr merge --admin;@push-force repo sync --force;@api-delete api -X=DELETE --method=DELETE;@api-delete api -F=force=true -f=force=true;@api-delete api *protection* -X=PUT --method=PUT;@api-delete api graphql -f=*mutation*elete* -F=*mutation*elete* --field=*mutation*elete* --raw-field=*mutation*elete* -f=*mutation*rchive* -f=*mutation*transfer*;$ auth token;$ auth status -t --show-token;? pr|run|extension|config|alias|auth|browse|search|label;? project item-*;workflow disable
glab|gh|platform|@repository-delete repo|project delete|transfer|archive;@delete ci|runner|schedule delete;@api-delete api */archive|*/transfer;+@public ssh-key|deploy-key add;@delete release|variable|label|ssh-key|issue|mr|snippet delete|remove;@api-delete api -X=DELETE --method=DELETE;$ auth status -t --show-token;$ config get token;? mr|ci|config|alias|auth
redis-cli valkey-cli keydb-cli memcached-cli|^-hpansuriDdtX --user --pass --pattern --count --cacert --cert --key --eval --sni --socket --scan-count|-database|@flush flushall|flushdb|FLUSHALL|FLUSHDB;@database-stop shutdown|SHUTDOWN;@database-stop debug|DEBUG segfault|SEGFAULT;@cluster-reset cluster|CLUSTER reset|RESET;@script-flush script|SCRIPT|function|FUNCTION flush|FLUSH;@flush eval|EVAL *flush*|*FLUSH*|*"del"*|*'del'*|*unlink*;@flush config|CONFIG set|SET dir|dbfilename|requirepass|protected-mode;@database-stop replicaof|REPLICAOF|slaveof|SLAVEOF|swapdb|SWAPDB *;@flush acl|ACL deluser|DELUSER;@flush xtrim|XTRIM * maxlen|MAXLEN 0;@flush config|CONFIG set|SET save;+@public/platform acl|ACL setuser|SETUSER * *;@keys-delete del|DEL|unlink|UNLINK <>
docker podman nerdctl|^-Hlcsn --replicas --availability --cap-add --pid --userns --security-opt --device --namespace --host --context --config --log-level --tlscacert --tlscert --tlskey --url --connection --filter --format --signal|-containers|@container-kill-all kill <>;@container-remove-all rm <>;@container-remove-all container rm|remove|delete <>;@container-remove-all rm -a --all;@container-remove-volumes rm -v --volumes;@container-remove-volumes container rm|remove -v --volumes;@container-prune container prune;@container-prune rmi <> -f --force;@system-prune system prune;@volume-prune volume prune;@prune pod|machine|secret|config|stack|service|swarm prune;@volume-remove volume rm|remove;@remove kube|play down --force;@remove checkpoint|trust|context rm|remove|revoke;+@scale-to-zero/kubernetes service scale *=0;+@scale-to-zero/kubernetes service|node update --replicas=0 --availability=drain;^@privileged-container run|create|exec --privileged --cap-add=ALL --cap-add=SYS_ADMIN --cap-add=CAP_SYS_ADMIN --pid=host --userns=host --device=/dev/sd* --device=/dev/nvme*;@remove machine|pod|secret|config|stack|service|system rm|remove|delete;@container-prune node|plugin rm|remove;@reset machine|swarm|system reset|leave
compose|^-t --rmi --timeout|-containers|@compose-volumes down|rm -v --volumes
lxc incus multipass vagrant|^--project|-containers|@machine-delete rebuild --force -f;@machine-delete image delete;@machine-delete delete|destroy|purge|restore;@machine-delete storage|project|profile|network|snapshot delete|rm|restore;@machine-delete storage volume|bucket delete;@machine-delete admin recover;@machine-delete box remove --all
lxc-snapshot||-containers|@snapshot-delete -d --destroy -r --restore
toolbox distrobox devpod||-containers|rm|delete -f --force -a --all
jail|sys|-system|@container-remove -r -R
esxcli||-system|vm process kill;* remove|delete|destroy
k3s-uninstall.sh k3s-agent-uninstall.sh rke2-uninstall.sh k3s-killall.sh||-kubernetes|@uninstall
helm|^-nf --namespace --values --set --version --kube-context --kubeconfig --timeout --description --post-renderer|-kubernetes|@helm-uninstall uninstall|delete|del|un !-h
dropdb pg_dropcluster pg_resetwal dropuser|sql|database|@drop-database
mongorestore pg_restore|sql|-database|@restore-over --drop --clean -c
mysqladmin mariadb-admin|sql|database|@database-stop shutdown;@drop-database drop
prisma|orm|database|@reset-database migrate reset;@reset-database db push --force-reset --accept-data-loss;@drop-database db drop;migrate reset;db push --force-reset --accept-data-loss;?migrate;?db
drizzle-kit|orm|database|@reset-database push|push:pg|push:mysql|push:sqlite --force;@drop-table drop
supabase|orm|database|@reset-database db reset;@app-delete/platform projects|branches delete;db reset;stop --no-backup;projects|branches|functions|secrets|storage delete|rm|unset;migration repair|down
alembic|orm|database|@migrate-down downgrade base|-* !--sql;@migrate-down downgrade !--sql
flask|orm|database|@migrate-down db downgrade
rails rake|orm|database|@reset-database db:drop*|db:reset*|db:purge*|db:migrate:reset*|db:truncate_all*|db:schema:load*|db:structure:load*|db:seed:replant*|db:setup*;db:rollback* STEP=*;db:migrate* VERSION=0;+@migrate-step db:rollback*|db:migrate:down*;db:drop*|db:reset*;$ credentials:show|secrets:show|encrypted:show;?tmp:*|log:*|assets:*|destroy|d|cache:*|webpacker:*|js:*
artisan|orm|database|@reset-database migrate:fresh|migrate:reset|migrate:refresh|db:wipe !--pretend;queue:clear|queue:flush|model:prune|telescope:clear|horizon:clear|queue:forget;migrate:rollback --step --batch;?*:clear|*:cache|optimize:clear|migrate:rollback
django-admin manage.py|orm|database|@reset-database flush|reset_db|clean_db;@migrate-down migrate * zero !--plan;?sqlflush|sqlmigrate;clear_index|rebuild_index|remove_stale_contenttypes;dropdb|drop_db|reset_schema|delete_*|purge_*|wipe_*;?collectstatic|clearsessions|clear_cache
sequelize sequelize-cli|orm|database|@reset-database db:drop|db:migrate:undo:all;db:seed:undo:all;?db:migrate:undo
knex|orm|database|@migrate-down migrate:rollback --all;migrate:rollback --all;migrate:down;?migrate:rollback
typeorm mikro-orm dbmate goose atlas sqlx diesel wp drush edgedb gel turso pscale rabbitmqctl kafka-topics kafka-topics.sh curator|orm|database|@drop-database drop|schema:drop|schema:fresh|migration:fresh|database:drop|sql:drop|sql-drop|site:install|si|wipe;@drop-database db|database|branch|schema|site drop|reset|clean|destroy|delete|wipe|empty;@migrate-down reset|down-to;@migrate-down * * reset;@migrate-down down -all;@queue-delete force_reset|delete_queue|purge_queue|delete_vhost|delete_indices;@topic-delete --delete
migrate|tf|database|@drop-database drop;@migrate-down down -all;force
flyway|orm|database|@reset-database clean;clean;undo;repair
liquibase|orm|database|?*-sql|*SQL;@reset-database drop-all|dropAll;drop-all|dropAll|rollback*|undo
mix|orm|database|@reset-database ecto.drop|ecto.reset|ash.reset|ash_postgres.drop
shutdown|sys|-system|%@shutdown !-c !--show !-k
reboot poweroff halt|sys|-system|%@shutdown !-w !--wtmp-only
init telinit|sys|-system|%@shutdown 0|1|6|S|s|single
mount|mnt|-disk|+@remount -o=*remount* --options=*remount*;+@remount * /etc*|/usr*|/bin*|/sbin*|/lib*|/boot*|/var* --bind --rbind -B -o=bind
sysctl|sys|-system|+@kernel-setting kernel.*=*|net.ipv4.*=*|fs.protected*=*|fs.suid*=*
systemctl|sys|-system|$ show-environment;+@crontab-install link|enable */*|~*;+@service-mask mask|set-property;%@shutdown set-default rescue*|emergency*|poweroff*|reboot*|halt*;%@shutdown poweroff|reboot|halt|kexec|suspend|hibernate|rescue|emergency|soft-reboot|isolate;@service-stop stop|disable|mask|kill|revert
service invoke-rc.d rc-service sv update-rc.d rc-update chkconfig insserv svcadm rcctl initctl|sys|-system|@service-stop del|delete|down|stop|disable;@service-stop -r --remove;@service-stop * stop|down|disable|remove|off
launchctl|sys|-system|@service-stop unload|bootout|remove|disable|stop
crontab|sys|-system|@crontab-remove -r;+@crontab-install * !-l
iptables ip6tables ebtables|sys|-system|@firewall-flush -F --flush -X --delete-chain -Z -D --delete
iptables ip6tables|sys|-system|+@firewall-policy -P=INPUT -P=OUTPUT -P=FORWARD --policy=INPUT;+@firewall-policy INPUT|OUTPUT|FORWARD DROP|REJECT
ufw nft|sys|-system|@firewall-flush reset|disable|delete|flush|destroy;+@firewall-policy add rule * * * drop|reject;+@firewall-policy deny|reject 22|ssh|22/tcp;+@firewall-policy default deny incoming;+@firewall-policy default allow
pfctl|sys|-system|@firewall-flush -d -F -f
firewall-cmd|sys|-system|+@firewall-policy --panic-on --complete-reload --remove-service --remove-port --remove-rule --delete-zone --set-default-zone=*
userdel deluser groupdel delgroup|sys|-system|@user-delete
passwd|sys|-system|+@account-change root;+@account-change -d -l --delete --lock
chpasswd|sys|-system|+@account-change
usermod chsh groupmod|sys|-system|^@account-change -g;^@account-change -aG -G -L -U -u -o -s -e
chage|sys|-system|+@account-change * !-l !--list
vipw vigr newusers pwunconv grpunconv|sys|-system|^@account-change !--help
gpasswd smbpasswd pdbedit|sys|-system|^@account-change -x -a -d -A -M -r
useradd adduser|sys|-system|^@account-change -o -G --groups;^@account-change * sudo|wheel|admin|root|adm|docker
visudo|sys|-system|^@account-change !-c !--check
setenforce csrutil spctl nvram apparmor_parser auditctl semanage mokutil faillock|sys|-system|+@protection-off --reset;+@protection-off 0|Permissive|permissive|disable|clear;+@protection-off --master-disable --global-disable -R --remove -c -d -D -e=0
aa-teardown aa-disable aa-complain tpm2_clear|sys|-system|+@protection-off
rmmod insmod modprobe kexec|sys|-system|+@kernel-module !-n !-D !--show-depends !--show !--dry-run
setcap|sys|-permissions|^@setcap !-v !-r
umount|sys|-disk|+@unmount-all -a -f --all -l;+@unmount-all /|/boot*|/home|/var|/usr
swapoff|sys|-disk|+@swap-off -a --all;+@swap-off *
timedatectl hostnamectl localectl fdesetup rfkill systemsetup|sys|-system|+@machine-setting set-*|disable|block|remove
date hwclock|sys|-system|+@machine-setting -s --set -w --systohc
hostname|sys|-system|+@machine-setting *
pmset|sys|-system|+@machine-setting -a -b -c
dmesg|sys|-system|@log-clear -C -c --clear
atrm|sys|-system|@crontab-remove *
tc|sys|-system|+@network-change qdisc|class|filter add|del|delete|replace|change
ethtool dhclient|sys|-system|+@network-change -s -K -G -C -L -r
networksetup|tf|system|+@network-change -setdnsservers -setnetworkserviceenabled -setairportpower -setwebproxy -setsecurewebproxy -setmanual
ip|sys|-system|+@network-change link set|del|delete;@network-change route|addr|rule flush|del|delete
ifconfig ifdown wg-quick route brctl resolvectl|sys|-system|+@network-change del|delete|flush|down|delbr|revert;+@network-change * down;+@network-change -a --all --force;+@network-change eth*|en*|wl*|bond*|br*
nmcli|sys|-system|+@network-change networking|radio off;+@network-change radio * off;@network-change connection|con|c delete|down;@network-change device|dev disconnect|delete
efibootmgr|sys|-system|@firmware-change -B -O --delete-bootnum
grub-install update-grub bootctl|sys|-system|+@bootloader !status
git-reset|^-U --pathspec-from-file|-git|@reset-hard --hard --merge
git-checkout|^-bBU --orphan --conflict --pathspec-from-file|-git|@checkout-force -f --force;@reset-branch -B;?-b --orphan -p --patch
git-switch|^-cC --create --force-create --orphan --conflict|-git|@switch-force -f --force --discard-changes;@reset-branch -C --force-create
git-restore|^-sU --source --conflict --pathspec-from-file|-git|?-p --patch;@discard-changes -W --worktree;?-S --staged;@discard-changes
git-clean|^-e --exclude|-git|?-n -i --interactive;@clean -f --force
git-stash|^-m --message|-git|@stash-drop drop;@stash-clear clear
git-commit|^-mFCct --message --file --author --date --template --fixup --squash|-git|+@hooks-off --no-verify -n;?
git-push|^-o --repo --push-option --receive-pack --exec|-git|?-n;+@hooks-off --no-verify;@push-mirror --mirror --prune;@push-force * -f --force;@push-force -f --force;@push-delete * -d --delete
git-branch|^-u --set-upstream-to --sort --format --contains --merged --no-merged|-git|@branch-delete -D;@branch-overwrite -M
git-tag|^-mFu --message --file --sort --format --contains|-git|@ref-delete <> -d --delete;?
git-worktree|^-bB --reason|-git|@worktree-remove remove -f --force
git-filter-branch|^--env-filter --tree-filter --index-filter --msg-filter --commit-filter --tag-name-filter --parent-filter --subdirectory-filter|-git|@rewrite-history
git-filter-repo git-fast-import|^--path --path-glob --replace-text|-git|@rewrite-history !--analyze
git-reflog|^--|-git|@reflog-expire expire|delete !-n
git-update-ref git-symbolic-ref|^-m|-git|@ref-delete -d --delete
git-read-tree|^--prefix --index-output|-git|@discard-changes --reset
git-checkout-index|^--prefix --stage|-git|@discard-changes -f --force !--prefix
git-gc git-prune|^--expire|-git|@prune --prune=now --prune=all;@prune --expire=now --expire=all !-n
git-rebase git-difftool|^-xsX --exec --onto --strategy --extcmd --tool|-git|?
git-submodule|^-b --branch --reference --name|-git|@discard-changes deinit -f --force
git-replace|^--|-git|@replace -d -f --delete --force
git-notes|^-mFcC --ref|-git|@notes-prune prune !-n
git-lfs|^--|-git|@rewrite-history migrate import|export --everything --include --include-ref;@lfs-prune prune -f --force
git-annex git-svn|^--|-git|@lfs-prune drop|dropunused|uninit -f --force;@reset-hard reset
git-archive git-diff git-log git-show git-format-patch git-blame git-cat-file|^-oUOSGLl --output --output-directory --format --pretty --prefix --remote --exec --grep --author --since --until|-git|?
git-clone|^-bocju --branch --depth --origin --config --upload-pack --reference --template|-git|?
git-fetch git-pull git-ls-remote|^-jocsX --upload-pack --depth --refmap --strategy|-git|? * +*:refs/remotes/*|+*:refs/tags/*;@ref-overwrite +*:*;@ref-overwrite * +*:*;?
git-grep|^-efO --open-files-in-pager --max-depth|-git|?
hg chg sl rhg|vcs|git|debugsetparents;phase --force -f;strip;debugstrip;purge|clean !-p !--print;update|up|checkout|co|goto -C --clean;revert -a --all -C --no-backup;rollback;histedit;prune|hide;push -f --force;shelve|unshelve -d --delete --cleanup;?bookmark|bookmarks|tag;?delete|rm|remove|forget
svn|vcs|git|revert;cleanup --remove-unversioned --remove-ignored;delete|del|rm|remove|mv|move http*|https*|svn*|^*|file:*;?delete|del|rm|remove;switch|sw --force;propdel|pdel|propset|pset --revprop
svnadmin|vcs|git|setlog --bypass-hooks;hotcopy --clean-logs;rmtxns;delrevprop|setrevprop;rmlocks;recover;obliterate
jj|vcs|git|bookmark|branch set|move --allow-backwards -B;* --ignore-immutable;abandon;restore;op|operation abandon|restore;git push --deleted;bookmark|branch delete|forget;workspace forget;util gc --expire
p4||git|delete //...*|//depot/*;admin stop;protect -i;revert !-n !-k;obliterate -y;clean !-n;reconcile -d !-n;sync|update -f;client|workspace|branch|label|depot|stream|user|group|change|job -d;shelve -d;archive|unload;?delete|opened
fossil|vcs|git|shun *;revert;purge;clean !-n;update|checkout|co --force -f;stash drop|rm|purge;scrub;close --force -f;configuration reset;rm|delete --hard;?rm|delete|forget
darcs|vcs|git|obliterate|unpull !--dry-run;revert -a --all;unrecord;?rollback;?remove
bzr brz|vcs|git|revert;uncommit;clean-tree;push|pull --overwrite;remove-branch|rmbranch;remove|rm --force --no-backup;?remove|rm
cvs||git|release -d;update|up -C;admin -o;remove|rm|delete -f
pijul got repo gt graphite||git|unrecord|reset|revert|abandon;channel|branch delete;rm|remove -f;sync --force-remove-dirty --force-sync;delete -f --force
dnf yum microdnf tdnf||-system|swap <>|%sys;history undo|rollback;%@shutdown system-upgrade|offline-upgrade reboot
gem|pkg|platform|+@publish push;yank;owner -r --remove;?uninstall|cleanup
nix-collect-garbage||system|-d --delete-old --delete-older-than;?gc
conda mamba micromamba|^-np --name --prefix|system|remove|uninstall --all;env remove -n=base --name=base -n=*prod* --name=*prod*;?remove|uninstall|clean|env
poetry pdm hatch rye pipenv uv pipx composer bower bundle bundler pod flutter dart swift gradle gradlew mvn mvnw ant bazel bazelisk lein sbt mill cmake meson ninja go rustup nvm fnm asdf mise volta n corepack lerna rush pre-commit ng next nuxt gatsby parcel vite tsc eslint prettier ccache sccache xcodebuild||platform|@uninstall/system uninstall|remove|implode --all;@uninstall/system implode|uninstall-all;@uninstall/system pip uninstall <>;? cache|remove|uninstall|clean|prune|reset|purge|clear|rm|del|self|env
dotnet|pkg|database|$ user-secrets list;ef database drop !--dry-run;ef database update 0;ef migrations remove -f --force;@unpublish/platform nuget delete;? remove|clean|ef|nuget|tool|workload|sln|add|package|reference
sea-orm-cli sea-orm||database|migrate fresh|refresh|reset;migrate down -n;?migrate
sqitch||database|@reset-database revert|rebase !--to
skeema||-database|push --allow-unsafe
psqldef mysqldef sqlite3def sqldef||-database|@drop-table --enable-drop --enable-drop-table
strapi||-database|transfer|import -f --force
phinx|^-tec|database|rollback -t=0 --target=0;?rollback
yii||database|migrate/fresh;migrate/down all
console doctrine||database|$ secrets:list|secrets:reveal --reveal;doctrine:database:drop|doctrine:schema:drop|d:d:d|d:s:d -f --force;doctrine:fixtures:load !--append;messenger:failed:remove --all;?cache:clear|doctrine:cache*|cache:pool*
ravendb hasura convex cockroach surreal||database|metadata clear;import --replace --replace-all
aerich yoyo tern piccolo||database|downgrade;rollback --all;migrations backwards
neon neonctl||database|projects|branches|databases|roles|project|branch delete;branches reset;connection-string
influx influxd||database|delete;bucket|org|user|auth|task delete;restore --full
nats||database|stream|str|s|kv|obj|object rm|del|delete|purge;consumer|con rm;server * cluster
kafka-consumer-groups kafka-consumer-groups.sh kafka-acls kafka-acls.sh||database|* --delete --remove;--remove;* --reset-offsets !--dry-run;--delete --delete-offsets;--execute
kafka-delete-records kafka-delete-records.sh kafka-storage kafka-storage.sh||database|* ;--offset-json-file;format
rabbitmqctl rabbitmqadmin||database|delete*|purge*|reset|force_reset|forget_cluster_node|stop_app;delete|purge
pulsar-admin zkCli.sh zkcli nodetool couchbase-cli||database|deleteall|rmr;decommission|removenode|assassinate|clearsnapshot;bucket-delete|bucket-flush
wrangler||platform|delete;?tail|dev|deploy
velero||kubernetes|backup|restore|schedule|backup-location delete;uninstall
flux||kubernetes|uninstall;delete *
argocd argo argocd-autopilot||kubernetes|app|appset|proj|cluster|repo|repocreds delete|rm|delete-resource|terminate-op;app rollback;app sync --prune --force;delete|stop|terminate;$ admin initial-password;$ account generate-token
helmfile||kubernetes|destroy|delete;?lint|template|diff
kubectl oc k k3s microk8s|^-nlofcs --namespace --context --cluster --kubeconfig --server --user --token --as --output --selector --field-selector --filename --container --request-timeout --grace-period --timeout --cascade --dry-run --replicas --kustomize --template --image|-kubernetes|$ view-secret *;$ extract secret*;$ whoami -t --show-token;@drain drain;@drain cordon|taint;@drain adm drain|cordon|taint;+@public/platform adm policy add-cluster-role-to-user|add-scc-to-user|add-cluster-role-to-group;^@privileged-container debug node/*;argo|cnpg|virt|minio|rook-ceph|directpv delete|destroy|stop|terminate|remove;@replace-force replace --force;@delete-all apply --all --prune;+@public proxy --address=0.0.0.0;+@public create --clusterrole=cluster-admin;+@scale-to-zero scale --replicas=0
kubeadm k0s k0sctl talosctl rke rke2 microk8s||kubernetes|$ token create|list;reset;remove;uninstall;wipe
istioctl linkerd cilium operator-sdk calicoctl kbcli consul-k8s kapp clusterctl tk tanka tkn kn skaffold tilt okteto devspace werf garden||kubernetes|uninstall;delete|destroy|purge|dismiss|cleanup|prune;down -v --volumes --delete-namespaces
limactl lima colima orb orbctl podman-machine tart vctl ignite||containers|stop -f --force;delete|remove|rm|prune|factory-reset|reset !--help
virsh||system|reset|destroy|undefine|vol-delete|vol-wipe|pool-delete|pool-destroy|snapshot-delete|snapshot-revert|net-destroy|net-undefine|iface-undefine|managedsave-remove|checkpoint-delete
VBoxManage vboxmanage||system|unregistervm --delete --delete-all;closemedium --delete;snapshot * delete|restore;controlvm * poweroff;discardstate
qm pct pvesm vmrun prlctl xe xl utmctl pvesh||system|stop --kill --force -f --overrule-shutdown;vmrun-stop stop * hard;shutdown -a --all;destroy|rollback|delsnapshot|remove;free;deleteVM|revertToSnapshot;delete;vm-destroy|vm-uninstall|sr-destroy|vdi-destroy
qemu-img||disk|snapshot -d -a;resize --shrink;commit
fuser|sys|-system|%@kill-all /|/home|/usr|/var|/etc -k --kill -km
ceph rados rbd gluster stratis storcli storcli64 perccli hpssacli ssacli iscsiadm targetcli drbdadm||disk|osd destroy|purge|rm|out;* pool delete|rm;rmpool|purge|rm;trash|snap purge|rm;volume delete|stop|reset;pool|filesystem destroy;* delete;clearconfig;wipe-md;create-md --force;-o=delete
lvresize|^-Ll --size|-disk|@shrink -L=-* --size=-* -l=-*
vgreduce vgcfgrestore pvresize lvconvert||disk|* --removemissing;* -f --force --merge --uncache;--removemissing
asr hdiutil sg_format xfs_repair debugfs||disk|restore --erase;erasekeys;* --format;* -L -w;-L
tmutil||system|delete|deletelocalsnapshots|disable|thinlocalsnapshots
defaults||system|delete <>;delete NSGlobalDomain;delete -g -globalDomain;?read|write|delete
dscl sysadminctl pwpolicy|tf|system|* -delete;* -deleteUser;* -clearaccountpolicies;-deleteUser;* -append -create
security||cloud|delete-keychain|delete-certificate|delete-identity|delete-generic-password|delete-internet-password;$ find-generic-password|find-internet-password -w -g;$ export|dump-keychain
loginctl homectl localectl machinectl||system|terminate-user|kill-user|terminate-session;remove|terminate|poweroff|clean;?list
snapper timeshift||system|delete|rollback|undochange;--delete --delete-all --restore
restic borg duplicity kopia rustic bup proxmox-backup-client||system|rm --unsafe;forget|prune|delete|remove-all-but-n-full !-n;snapshot delete
gcloud||cloud|$ auth print-access-token|print-identity-token;$ auth application-default print-access-token;$ secrets versions access;$ iam service-accounts keys create;? config|auth|components|info|topic;run jobs delete;+@public * add-metadata --metadata=*ssh-keys* --metadata-from-file=*ssh-keys*;compute instances stop|reset;sql instances restart|restore-backup;pubsub subscriptions seek;container clusters resize --num-nodes=0
az||cloud|$ account get-access-token;$ keyvault secret show|download;$ storage account keys list;$ acr credential show;$ ad sp create-for-rbac;$ ad sp credential reset;account management-group|lock|subscription delete|cancel;? account|cache|config|extension|logout;vm deallocate;webapp|functionapp|vm|containerapp stop|restart;+@public deployment group|sub create --mode=Complete;$ cosmosdb|functionapp|redis|servicebus|eventhubs keys|list-keys list|regenerate;$ redis list-keys;$ webapp|functionapp config appsettings list
doctl linode-cli hcloud ibmcloud oci scw ovh exo vultr vultr-cli tccli aliyun yc govc eksctl rosa ocm civo upctl stackit openstack||cloud|$ auth token;? auth|config|completion;vm.destroy|object.destroy|datastore.rm|snapshot.remove
gsutil s3cmd s5cmd mc b2 mb azcopy||cloud|rm|rb|del|remove|delete-bucket|delete_bucket|undo;sync|mirror|rsync !-n --delete-destination --delete-removed --remove --delete -d
vault bao||platform|$ kv get;$ read;$ print token;$ token create|lookup;? list|status;@secret-delete audit disable;lease|token revoke;operator seal|rekey|rotate
op||platform|$ read;$ item get;$ document get;item|document|vault|user|group|connect delete|remove;? run|inject|signin|whoami
rdiff-backup||system|remove;--remove-older-than
hdfs hadoop|tf|-outside|dfs|fs -rm -rmr -expunge -deleteSnapshot;namenode|format -format
kafka-configs kafka-configs.sh|^--entity-type --entity-name --bootstrap-server --zookeeper --add-config --delete-config|-database|@retention --add-config=*retention*
symfony||-platform|$ secrets:list|secrets:reveal --reveal
bw rbw lpass pass gopass keyring secret-tool 1pass keepassxc-cli docker-credential-desktop docker-credential-osxkeychain docker-credential-pass docker-credential-secretservice||platform|$ get|show|read|lookup|otp|clip|view;rm|remove|delete|rmdir|clear|purge !--help;erase;$ export
doppler infisical dotenvx chamber teller berglas aws-vault envchain||platform|$ secrets get|download;$ secrets;$ get;$ export;$ read;$ show|env;$ access;$ exec|run -- env|printenv;secrets delete;remove|delete|prune;? run|exec|login|setup|list
ansible-vault sops git-crypt git-secret||platform|$ view|decrypt|export-key|cat|reveal;$ * -d --decrypt;? edit|encrypt|rekey
railway render netlify ntl||platform|$ variables|variable;$ env:get|env:list;down|delete;env:unset;sites:delete|blobs:delete;unlink
tsh boundary step cloudflared tailscale ngrok||platform|$ auth generate-token;tunnel delete|cleanup;logout|down
eb cf copilot amplify sam chalice zappa up apex architect arc sst serverless sls cdktf cdk nitric encore||cloud|terminate|delete|destroy|undeploy|remove;delete-service|delete-org|delete-space|purge-service-instance;app|env|svc|job|pipeline delete
npm yarn pnpm bun||platform|+@publish dist-tag|owner|team add;unpublish;deprecate;owner|token|access|team|org rm|remove|revoke|destroy;dist-tag|tag|hook rm|remove;profile disable-2fa;? uninstall|remove|rm|un|prune|cache|store|dedupe|unlink|clean|ci|config|audit|outdated|plugin|run|run-script|exec|dlx|x
firebase||platform|$ login:ci;$ functions:config:get
gcloud-crc firebase appwrite amplify-cli nhost xata turso pscale upstash planetscale tinybird tb||platform|*:delete|*:remove|*:disable;datasource|table|branch|database|db|project|app|group truncate|rm|delete|remove|destroy
adb fastboot idevicerestore||system|shell wipe|recovery;? uninstall;reboot bootloader|recovery;erase|format|flashall|update;* -e --erase
xcrun simctl||system|simctl erase all;simctl delete all;? simctl
softwareupdate|sys|-system|%@shutdown -R --restart
do-release-upgrade|sys|-system|+@upgrade !-c !--check-dist-upgrade-only
gio|sys|-outside|@empty trash --empty
rpm-ostree||-system|reset;cleanup -b -r -m
wsl||-containers|--unregister
docker-machine docker-buildx buildah skopeo crane regctl oras reg crictl ctr||containers|rm|rmp|delete|rmi !--help;manifest|blob|repo delete|rm;? build|tag
tmux screen zellij byobu pm2 forever supervisorctl overmind||system|? kill-*|delete-*|delete|remove|clear|flush|reset
mix|pkg|platform|@migrate-down/database ecto.rollback --all --to -n --step;hex.publish --revert;+@publish hex.publish;hex.retire;hex.owner remove;hex.user deauth
systemd-run||-system|+@crontab-install --on-calendar --on-boot --on-active --on-unit-active --on-startup --timer-property
at batch|sys|-system|+@crontab-install -f
tmate ttyd wetty shellinaboxd sshx upterm teleconsole gs-netcat dropbear x11vnc vncserver anydesk rustdesk frpc code-tunnel warpd rport ssh-import-id ssh-import-id-gh ssh-import-id-lp||-system|^@lets-in !-V !--version !-v !--help
sshd|sys|-system|^@lets-in -p
tailscale|^--authkey --auth-key|-platform|^@lets-in up|set|login --ssh;^@lets-in funnel|serve *
ngrok bore||-platform|^@lets-in tcp|local|ssh 22|3389|5900;^@lets-in tcp
cloudflared|^--hostname --url|-platform|^@lets-in access tcp|ssh|rdp;^@lets-in tunnel --url=ssh*|--url=tcp* --url=ssh://localhost:22
chisel zerotier-cli||outside|^@lets-in client R:*|*;^@lets-in join *
code code-insiders||-platform|^@lets-in tunnel !--help
xhost|sys|-system|^@lets-in +
loginctl|sys|system|+@crontab-install enable-linger
launchctl|sys|-system|+@crontab-install submit|bootstrap|load *
nsenter|^-tSG --target|-containers|^@root-shell -t=1 --target=1
sysadminctl|tf|-system|^@account-change -addUser -admin -resetPasswordFor
dseditgroup|^-oatunp|-system|^@account-change -o=edit -o=delete
runuser machinectl|^-ulc|-system|^@root-shell !-c !-u !--help -l;^@root-shell shell root@*
setsebool tccutil falconctl|sys|system|+@protection-off *;+@protection-off -d -P --disable
socketfilterfw||-system|+@protection-off off|--setglobalstate|--setblockall;+@protection-off --setglobalstate --setblockall --remove --unblockapp
mokutil|sys|-system|+@protection-off --disable-validation
fail2ban-client wazuh-control osqueryctl crowdsec||-system|+@protection-off stop|unban
stress stress-ng||-system|%@fork-bomb --vm --cpu -c -m --all !--version
mkfile||-system|%@fill-disk *t|*T|???g|???G
pg_ctl pg_ctlcluster|^-Dmt|-database|@database-stop stop -m=immediate -m=i;@database-stop * * stop
initdb|^-D --pgdata|-database|@drop-database -D=/var* --pgdata=/var*
vim-cmd||-system|@machine-delete *vmsvc/destroy|*vmsvc/unregister|*vmsvc/power.off|*vmsvc/power.reset|*snapshot.remove*|*snapshot.revert*
vmkfstools virt-format||-system|@machine-delete -U --deletevirtualdisk -a -i -w
deno|^-c --config|-platform|+@publish publish !--dry-run
pod||platform|+@publish trunk|repo push
choco nuget|pkg|-platform|+@publish push
dotnet|pkg|-platform|+@publish nuget push
fastlane||outside|+@publish/platform deliver|supply|release|upload_to_app_store|upload_to_play_store;+@publish/platform pilot upload
eas||outside|+@publish/platform submit
mvn mvnw lein clojure clj|^-PDfT|-platform|+@publish deploy|release:perform|nexus-staging:release !-Dmaven.deploy.skip=true
helm|^-nf --namespace --values --set --version --kube-context --kubeconfig|-kubernetes|+@publish/platform push * oci://*.*
conan||platform|+@publish upload
cpan-upload chrome-webstore-upload web-ext||-platform|+@publish !--dry-run upload|sign|*
npm|^|-platform|+@publish access|org|team public|set|grant|add
airflow prefect dagster rq varnishadm|sys|outside|dags|db|pools|variables|connections delete|reset|clean;@queue-delete run wipe;tasks clear -y --yes;@queue-delete suspend;@queue-delete ban *;@queue-delete ban*
memcflush memcrm||outside|@flush !--help --servers;
rpk||outside|topic trim-prefix
pulsar-admin||-database|topics|namespaces|subscriptions skip-all|clear-backlog|delete|terminate
surge||outside|teardown
kamal||outside|remove;app|accessory remove|stop;rollback
shopify||outside|theme delete;theme push|publish --allow-live -a --publish
heroku||-platform|ps:stop|ps:kill|apps:transfer|addons:detach|apps:leave|pg:detach
cf clever koyeb dokku||outside|stop|pause|restage;scale * * 0;ps:stop
twilio||outside|* --status=closed --status=suspended
octodns-sync dnscontrol cli53||outside|@dns-overwrite --doit --force;push !--help;rrpurge
neonctl neon||-database|branches restore
linode-cli hcloud vultr-cli scw||cloud|* rebuild|reset|reinstall;* * rebuild|reset
ipmitool|^-HUPILEefpt|-system|%@shutdown mc reset
rtcwake|sys|-system|%@shutdown -m
fly flyctl||-platform|machine|machines stop|kill;ips release;apps suspend
ldcli||outside|flags toggle-off
wal-g wal-e||-database|delete --confirm
pgbackrest barman||database|stanza-delete|delete
claude codex gemini qwen copilot cursor-agent opencode kimi amp aider goose|agent|-system|^@agent-unguarded --dangerously-skip-permissions --dangerously-bypass-approvals-and-sandbox --allow-dangerously-skip-permissions --yolo -y --allow-all-tools --allow-all --force --full-auto -f --yes --yes-always --settings --setting-sources --no-hooks --permission-mode=bypassPermissions --approval-mode=yolo --sandbox=danger-full-access -s=danger-full-access -a=never --ask-for-approval=never -c=*approval* -c=sandbox_mode* -c=*hooks* --config=*approval* --config=*hooks*;^@agent-unguarded config set|add|remove|unset *hook*|*ermission*;^@agent-unguarded plugin|plugins|mcp|extensions disable|uninstall|remove;^@agent-unguarded mcp|plugin|plugins|extensions add|add-json|install
update-initramfs kernelstub|sys|-system|@bootloader -d --delete
update-alternatives|sys|-system|+@machine-setting --remove --remove-all
tasksel|sys|-system|@uninstall remove
pkgutil|sys|-system|@uninstall --forget --unlink
salt salt-ssh salt-call||system|pkg.remove|pkg.purge|file.remove|user.delete|service.stop|service.disable|system.*|ps.pkill|disk.wipe
guix||-system|gc|package|pull -d --delete-generations
conan||-platform|remove <> !--dry-run
puppet||-system|@uninstall resource package|user|group|file|service|mount|cron * ensure=absent|ensure=purged;cert|node clean|deactivate|purge
brew||-system|bundle cleanup -f --force
nix||-system|profile wipe-history;store delete;profile remove .*
journalctl|sys|-system|@log-clear --vacuum-time=1s --vacuum-time=10s --vacuum-time=1m --vacuum-time=1h --vacuum-time=0 --vacuum-size=1M --vacuum-size=1K --vacuum-size=0 --vacuum-files=1 --vacuum-files=0
bleachbit|sys|-outside|@clean -c --clean -s --shred
unison|tf|-outside|@sync-over -force
wevtutil auditpol||-system|cl|clear-log;@audit-clear /clear|/remove
dvc||git|gc -f --force;destroy;? remove
celery||database|control shutdown;purge;amqp queue.purge|queue.delete;? inspect|status|worker|beat
postsuper||-database|-d
exim exim4|tf|-database|* -Mrm -Mg
cancel lprm||-system|@queue-delete -a -x;@queue-delete -
mosquitto_pub||-database|@queue-delete -n --null-message
ray sky||cloud|down;? stop|start|status|list
modal runpodctl||cloud|app|volume|secret|dict|queue stop|delete|rm;remove
squid|^-kf|-platform|-k=kill -k=shutdown
ipmitool|^-HUPILEefpt|-system|%@shutdown power off|cycle|reset|soft;%@shutdown chassis power off|cycle|reset|soft
bcachefs vdo||disk|format|remove|stop;device remove|evacuate
juju||cloud|kill-controller|destroy-*|remove-*;?
realm adcli||-system|@protection-off leave;@protection-off delete-*
jf jfrog||platform|rt del|delete|docker-delete;? rt
getent||-system|$ shadow|gshadow
pod||platform|trunk deprecate|delete|remove-owner
cargo|pkg|platform|@uninstall/system uninstall <>;+@publish publish;yank !--undo;owner -r --remove;?
nuget twine|pkg|platform|+@publish push|upload;delete;?
semantic-release release-it np||-platform|+@publish
goreleaser cpan-upload snapcraft luarocks maturin charmcraft anaconda stack cabal||platform|+@publish release|upload !--snapshot !--skip=publish !--skip=*publish* !--skip-publish`

// options are sets of options that take a value.
var options = map[string]string{
	"":      "--metadata --metadata-from-file --mode --retention-days --profile --region --output --query --endpoint-url --project --zone --format --account --configuration --subscription --resource-group --name --cli-input-json --filter --impersonate-service-account --bucket --key --vault-name --secret-id --namespace --context --cluster",
	"orm":   "--schema --config --database --db-url --url --env --environment --dir --path -n --name --connection --revision --version-table --dialect --migrations-path",
	"sys":   "-tpPe",
	"agent": "-cas --model --settings --setting-sources --permission-mode --approval-mode --sandbox --ask-for-approval --config",
	"mnt":   "-ot --options --types",
	"vcs":   "-m --message --username --password --file --revision",
	"pkg":   "-v --version --vers --source --registry --index --key",
	"stack": "-scCt --stack --cwd --target --config --context --app --profile --region --stage --stack-name",
	"gh":    "-XRHfFqb --method --repo --field --raw-field --header --jq --template --input --hostname --registry --tag --otp --prefix --workspace --body --title",
	"sql":   "-hpUWuPS --host --port --username --user --password --maintenance-db --socket",
	"tf":    "-var -var-file -target -chdir -state -lock-timeout -parallelism -path -database -source",
}

// Tool is what a line of the table says.
type Tool struct {
	Names []string
	// Short and Long are the options that take a value; Dash is true where words
	// follow a single dash.
	Short, Long string
	Dash        bool
	// First is true for a tool whose rules hold for its first words alone.
	First  bool
	Domain string
	// Quiet is true for a tool that the lexicon is not asked of.
	Quiet   bool
	Entries []Entry
}

// Entry is one thing a tool does. Mark is the letter before it, 0 for a deletion.
type Entry struct {
	Mark             byte
	Op, Domain       string
	Words, Need, Not []string
}

// system are packages without which a machine does not run, is not reached, or that
// hold data.
const system = "hookc|libc6*|glibc*|libc-utils|musl|apt|apk-tools|dpkg|rpm|dnf|yum|zypper|pacman|portage|bash|busybox|coreutils|util-linux|systemd*|udev|dbus|perl-base|iproute2|netplan*|libstdc++*|lvm2|cryptsetup*|initramfs-tools*|linux-firmware|e2fsprogs|kmod|procps|apparmor|auditd|libpam*|snapd|core[0-9]*|cloud-init|walinuxagent|base-devel|python3-apt|python3.[0-9]*|gcc-*-base|openrc|init|sudo|login|passwd|base|base-files|openssl|dash|alpine-base|filesystem|linux|linux-generic|linux-image*|kernel*|openssh*|" +
	"python3|python3-minimal|network-manager|NetworkManager|grub*|postgresql*|mysql|mysql-server*|mysql-community-server*|mariadb|mariadb-server*|mongodb*|redis|redis-server|clickhouse-server*|elasticsearch*|cockroachdb|cassandra|" +
	"influxdb*|rabbitmq-server|*-desktop|*-desktop-environment|gnome|gnome-shell|plasma*|@system|@world|xorg|xorg-server*|xserver-xorg*|alpine-keys|base-system|os-core"

// System reports whether the machine needs a package, which may be written with where it
// comes from and a pattern: sys-libs/glibc, mysql*.
func System(name string) bool {
	name = name[strings.LastIndexByte(name, '/')+1:]
	name, _, _ = strings.Cut(strings.ReplaceAll(strings.Trim(name, "^$"), ".*", "*"), ":")
	some, many := strings.CutSuffix(name, "*")
	for alt := range strings.SplitSeq(system, "|") {
		if GlobMatch(alt, name) || many && strings.HasPrefix(alt, some) {
			return true
		}
	}
	return false
}

// Tools reads the table.
func Tools() []Tool {
	var out []Tool
	for line := range strings.SplitSeq(strings.TrimSpace(strings.ReplaceAll(table, "%sys", system)), "\n") {
		f := strings.SplitN(line, "|", 4)
		t := Tool{Names: strings.Fields(f[0])}
		t.Domain, t.Quiet = strings.CutPrefix(f[2], "-")
		spec, named := options[f[1]]
		if !named {
			spec, t.First = strings.CutPrefix(f[1], "^")
		}
		for o := range strings.FieldsSeq(spec) {
			switch {
			case strings.HasPrefix(o, "--"):
				t.Long += " " + o
			case f[1] == "tf":
				t.Long, t.Dash = t.Long+" "+o, true
			default:
				t.Short += o[1:]
			}
		}
		for text := range strings.SplitSeq(f[3], ";") {
			if text != "" {
				t.Entries = append(t.Entries, entry(text, t.Domain))
			}
		}
		out = append(out, t)
	}
	return out
}

func entry(text, domain string) Entry {
	e := Entry{Domain: domain}
	if strings.IndexByte("+%^$?", text[0]) >= 0 {
		e.Mark, text = text[0], text[1:]
	}
	for w := range strings.FieldsSeq(text) {
		switch {
		case w[0] == '@':
			op, other, _ := strings.Cut(w[1:], "/")
			if e.Op = op; other != "" {
				e.Domain = other
			}
		case w[0] == '!':
			e.Not = append(e.Not, w[1:])
		case w[0] == '-' && w != "-*":
			e.Need = append(e.Need, w)
		default:
			e.Words = append(e.Words, w)
		}
	}
	if e.Op == "" {
		first, _, _ := strings.Cut(strings.Join(append(e.Words, e.Need...), "-"), "|")
		if e.Op = strings.Trim(first, "-*<>"); e.Op == "" {
			e.Op = "delete"
		}
	}
	return e
}
